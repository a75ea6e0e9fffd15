package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// Clients that ask for diagnostics themselves are sent none of what is open, or they
// would show each twice. Such a client asks for a document that it edits, and again
// when it is told that others have changed. Those of closed files are sent to it as to
// all clients, if it takes them: it shows the causes that way which nobody has opened.

// recall has a client ask again, if what there is to say has changed by more than
// where it stands in open documents: of those it asks when it edits them. It is
// called with the lock of s.told held.
func (s *server) recall(v *view, all map[string][]protocol.Diagnostic) {
	h := fnv.New64a()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		ds := slices.Clone(all[path])
		if v.space.Open(path) != nil {
			for i := range ds {
				ds[i].Range, ds[i].RelatedInformation = protocol.Range{}, nil
			}
		}
		fmt.Fprintln(h, path, digest(ds))
	}
	if now := h.Sum64(); now != s.told.pulled {
		s.told.pulled = now
		if v.client.Workspace.Diagnostics.RefreshSupport {
			s.ask("workspace/diagnostic/refresh", nil)
		}
	}
}

// digest is another for other diagnostics.
func digest(ds []protocol.Diagnostic) string {
	data, err := json.Marshal(ds)
	if err != nil {
		return ""
	}
	h := fnv.New64a()
	h.Write(data)
	return fmt.Sprintf("%x", h.Sum64())
}

// reported is what a client is told of a file that was told before.
func reported(ds []protocol.Diagnostic, before string) wire.DiagnosticReport {
	if ds == nil {
		ds = []protocol.Diagnostic{}
	}
	now := digest(ds)
	if now == before {
		return wire.DiagnosticReport{Kind: "unchanged", ResultID: now}
	}
	return wire.DiagnosticReport{Kind: "full", ResultID: now, Items: &ds}
}

// diagnostic answers a client that asks for the diagnostics of a document.
func (s *server) diagnostic(_ context.Context, params json.RawMessage) (any, error) {
	var p wire.DocumentDiagnosticParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.InvalidParams(err)
	}
	s.upToDate()
	v := s.view()
	path, ok := workspace.FilePath(p.TextDocument.URI)
	if !v.pulls || !ok {
		return reported(nil, p.Previous), nil
	}
	return reported(v.diagnostics()[path], p.Previous), nil
}

// workspaceDiagnostic answers with those of all files, and of those that have none any
// more.
func (s *server) workspaceDiagnostic(_ context.Context, params json.RawMessage) (any, error) {
	var p wire.WorkspaceDiagnosticParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.InvalidParams(err)
	}
	s.upToDate()
	v, items := s.view(), []wire.DiagnosticReport{}
	if v.sent {
		return wire.Object{"items": items}, nil
	}
	all, before := v.diagnostics(), map[string]string{}
	for _, r := range p.Previous {
		if path, ok := workspace.FilePath(r.URI); ok {
			before[path] = r.Value
			if _, still := all[path]; !still {
				all[path] = nil
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		r := reported(all[path], before[path])
		r.URI = v.space.URI(path)
		var version *int32
		if d := v.space.Open(path); d != nil {
			version = &d.Version
		}
		r.Version = version
		items = append(items, r)
	}
	return wire.Object{"items": items}, nil
}
