package lsp

import (
	"context"

	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// choice is one of several that a person is asked to choose from.
type choice struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// choose asks a person to choose, where the client can ask; else it is the first.
// False is that nothing was chosen.
func (s *server) question(ctx context.Context, title string, items []choice) (int, bool) {
	if !s.view().answers {
		return 0, true
	}
	var answer *struct {
		Index int `json:"index"`
	}
	_, err := s.conn.Call(ctx, "skewlens/choose", wire.Object{"title": title, "items": items}, &answer)
	if err != nil || answer == nil || answer.Index < 0 || answer.Index >= len(items) {
		return 0, false
	}
	return answer.Index, true
}

// words asks a person for a line of text, where the client can ask; else it is
// empty. False is that nothing was said.
func (s *server) words(ctx context.Context, title, hint string) (string, bool) {
	if !s.view().answers {
		return "", true
	}
	var answer *struct {
		Value string `json:"value"`
	}
	_, err := s.conn.Call(ctx, "skewlens/ask", wire.Object{"title": title, "hint": hint}, &answer)
	if err != nil || answer == nil {
		return "", false
	}
	return answer.Value, true
}

// offer shows a message with one button, where the client can, and reports whether
// it was pressed.
func (s *server) offer(ctx context.Context, message, button string) bool {
	v := s.view()
	if !v.answers {
		return false
	}
	var answer *struct {
		Title string `json:"title"`
	}
	_, err := s.conn.Call(ctx, "window/showMessageRequest", wire.Object{"type": 3, "message": message, "actions": []wire.Object{{"title": button}}}, &answer)
	return err == nil && answer != nil && answer.Title == button
}
