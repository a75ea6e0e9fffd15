package lsp

import (
	"iter"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// state is what the server knows. What it holds never changes: a change
// replaces it, so that a copy stays as it was.
//
// It is guarded by server.mu, which is held to copy it and to replace it, and
// never while anything is read, written, worded or sent: a disk that hangs must
// not hold up a hover. What takes long and needs an order of its own (what is
// published, the cache folder, the configuration) has a lock of its own, taken
// before server.mu. Hovers and hints take none of those.
type state struct {
	began    bool // the client has sent initialize
	stopping bool // and shutdown
	client   wire.ClientCapabilities
	notify   bool // the client wants skewlens/resultsChanged
	beside   bool // it shows diagnostics with hovers
	pulls    bool // it asks for diagnostics of what is open
	sent     bool // and is sent all others
	answers  bool // and answers skewlens/choose and skewlens/ask
	enc      text.Encoding

	space   workspace.Workspace
	results results.Set
	built   map[string][]protocol.Diagnostic // of the last failed build, by path
	recent  protocol.DocumentURI             // the document that was opened or edited last
	shown   string                           // the cause that was shown last
}

// view is the server at one moment. All that a client sees is made from one.
type view struct {
	state
	now time.Time
}

func (s *server) view() *view {
	now := s.opt.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return &view{s.state, now}
}

// change is the only way to another state. f must be quick.
func (s *server) change(f func(st *state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.state)
}

// shownOf are the causes of a section that the workspace wants to see, if the
// section is long enough to matter.
func (v *view) shownOf(sec *results.Section) []*results.Cause {
	if sec.Negligible {
		return nil
	}
	var out []*results.Cause
	for _, c := range sec.Causes {
		if c.At == nil || !v.space.Suppressed(c.At.Path, c.Location.Function, c.Type(), c.At.Was) {
			out = append(out, c)
		}
	}
	return out
}

// causes are all that are shown, of the results by name and the sections by
// what they lose.
func (v *view) causes() iter.Seq2[*results.Result, *results.Cause] {
	return func(yield func(*results.Result, *results.Cause) bool) {
		for _, r := range v.results.All() {
			for _, sec := range r.Sections {
				for _, c := range v.shownOf(sec) {
					if !yield(r, c) {
						return
					}
				}
			}
		}
	}
}
