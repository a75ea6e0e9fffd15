package lsp

import (
	"context"
	"encoding/json"

	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// inlayHintResolve says of one hint what all of them would have said.
func (s *server) inlayHintResolve(_ context.Context, params json.RawMessage) (any, error) {
	var h wire.InlayHint
	if err := json.Unmarshal(params, &h); err != nil {
		return nil, wire.InvalidParams(err)
	}
	if h.Data == nil {
		return h, nil
	}
	for r, c := range s.view().causes() {
		if r.Root == h.Data.Root && r.Target == h.Data.Target && c.Of.ID == h.Data.Section && c.Rank == h.Data.Rank {
			h.Tooltip = tooltip(r, c)
		}
	}
	return h, nil // without one, where the program was run again meanwhile
}

// codeActionResolve adds the edit to an action that was chosen.
func (s *server) codeActionResolve(_ context.Context, params json.RawMessage) (any, error) {
	var a struct {
		wire.CodeAction
		Data *hidden `json:"data"`
	}
	if err := json.Unmarshal(params, &a); err != nil {
		return nil, wire.InvalidParams(err)
	}
	if a.Data != nil {
		a.Edit = s.view().suppression(*a.Data)
	}
	return a, nil
}
