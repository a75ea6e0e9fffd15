package lsp

import (
	"context"

	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// finish is skewlens.finish: the program that is measured, as servers are that never end,
// ends as at Ctrl-C, and what it did so far is reported as of any other run.
func (s *server) finish(context.Context, *call) (any, error) {
	r, can := s.opt.Runner.(interface{ Finish() bool })
	return wire.Object{"finished": can && r.Finish()}, nil
}
