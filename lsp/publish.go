package lsp

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// told is what the client was told of results. Its lock is held while that is
// computed and sent, so that what is sent later is of a later moment.
type told struct {
	mu          sync.Mutex
	diagnostics map[string]uint64 // digests, by path
	pulled      uint64            // digest: see recall
	results     uint64            // digest: see announce
	soon        *time.Timer
}

// publish sends the diagnostics of every file for which they differ from what
// was sent last.
func (s *server) publish() {
	s.told.mu.Lock()
	defer s.told.mu.Unlock()
	v := s.view()
	all := v.diagnostics()
	if v.pulls {
		s.recall(v, all)
		maps.DeleteFunc(all, func(path string, _ []protocol.Diagnostic) bool { return !v.sent || v.space.Open(path) != nil })
	}
	for path := range s.told.diagnostics {
		if _, ok := all[path]; !ok {
			all[path] = []protocol.Diagnostic{}
		}
	}
	for path, ds := range all {
		s.send(v, path, ds)
	}
	s.announceSoon(v)
}

// send is called with the lock of s.told held.
func (s *server) send(v *view, path string, ds []protocol.Diagnostic) {
	p := wire.PublishDiagnosticsParams{URI: v.space.URI(path), Diagnostics: ds}
	data, err := json.Marshal(p)
	if err != nil {
		return
	}
	h := fnv.New64a()
	h.Write(data)
	last, ok := s.told.diagnostics[path]
	if len(ds) == 0 && !ok || ok && last == h.Sum64() {
		return
	}
	s.told.diagnostics[path] = h.Sum64()
	if len(ds) == 0 {
		delete(s.told.diagnostics, path)
	}
	if d := v.space.Open(path); d != nil {
		p.Version = &d.Version
	}
	s.tell("textDocument/publishDiagnostics", &p)
}
