package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// arguments of every command; all optional.
type arguments struct {
	URI     protocol.DocumentURI `json:"uri,omitempty"`
	Line    *int                 `json:"line,omitempty"`
	Section string               `json:"section,omitempty"`
	Target  string               `json:"target,omitempty"`
	Kind    string               `json:"kind,omitempty"`   // of cause, to be explained
	Embed   bool                 `json:"embed,omitempty"`  // answer, and show nothing
	Format  string               `json:"format,omitempty"` // of a report: html, text
}

// call is one command as a client sent it.
type call struct {
	arguments
	token json.RawMessage // of progress, chosen by the client; nil: none
}

// cancelCommand waits for nothing, not even for a configuration to be read.
const cancelCommand = "skewlens.cancel"

var commands map[string]func(*server, context.Context, *call) (any, error)

func init() {
	commands = map[string]func(*server, context.Context, *call) (any, error){
		"skewlens.profileSection": (*server).profileSection,
		"skewlens.profileTarget":  (*server).profileTarget,
		"skewlens.scaleTarget":    (*server).scaleTarget,
		cancelCommand:             (*server).cancelAll,
		"skewlens.finish":         (*server).finish,
		"skewlens.nextCause":      (*server).nextCause,
		"skewlens.causes":         (*server).causes,
		"skewlens.explain":        (*server).explain,
		"skewlens.heat":           (*server).heat,
		"skewlens.openReport":     (*server).openReport,
		"skewlens.compare":        (*server).compare,
		"skewlens.clear":          (*server).clear,
		"skewlens.targets":        (*server).listTargets,
		"skewlens.remember":       (*server).remember,
	}
}

func commandNames() []string { return slices.Sorted(maps.Keys(commands)) }

func (s *server) executeCommand(ctx context.Context, params json.RawMessage) (any, error) {
	var p wire.ExecuteCommandParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.InvalidParams(err)
	}
	f, ok := commands[p.Command]
	if !ok {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("no command is called %.100q", p.Command))
	}
	c := &call{token: p.Token}
	if string(c.token) == "null" {
		c.token = nil
	}
	if len(p.Arguments) > 0 {
		if err := json.Unmarshal(p.Arguments[0], &c.arguments); err != nil {
			return nil, wire.InvalidParams(err)
		}
	}
	if p.Command != cancelCommand {
		s.upToDate()
	}
	return f(s, ctx, c)
}
