package lsp

import (
	"context"
	"encoding/json"
	"fmt"

	"go.lsp.dev/jsonrpc2"
)

// What answers each method. A handler is in the file of its name.
var (
	requests = map[string]func(s *server, ctx context.Context, params json.RawMessage) (any, error){
		"codeAction/resolve":       (*server).codeActionResolve,
		"initialize":               (*server).initialize,
		"inlayHint/resolve":        (*server).inlayHintResolve,
		"shutdown":                 (*server).shutdown,
		"textDocument/codeAction":  (*server).codeAction,
		"textDocument/codeLens":    (*server).codeLens,
		"textDocument/diagnostic":  (*server).diagnostic,
		"textDocument/hover":       (*server).hover,
		"textDocument/inlayHint":   (*server).inlayHint,
		"workspace/diagnostic":     (*server).workspaceDiagnostic,
		"workspace/executeCommand": (*server).executeCommand,
	}
	notifications = map[string]func(s *server, params json.RawMessage) error{
		"exit":                                (*server).exited,
		"initialized":                         (*server).initialized,
		"textDocument/didChange":              (*server).didChange,
		"textDocument/didClose":               (*server).didClose,
		"textDocument/didOpen":                (*server).didOpen,
		"textDocument/didSave":                (*server).didSave,
		"window/workDoneProgress/cancel":      (*server).progressCancel,
		"workspace/didChangeConfiguration":    (*server).didChangeWatchedFiles,
		"workspace/didChangeWatchedFiles":     (*server).didChangeWatchedFiles,
		"workspace/didChangeWorkspaceFolders": (*server).didChangeWorkspaceFolders,
	}
)

// handle finds what answers a message.
func (s *server) handle(ctx context.Context, req jsonrpc2.Request) (any, error) {
	_, isCall := req.(*jsonrpc2.Call)
	method, params := req.Method(), req.Params()
	s.mu.Lock()
	began, stopping := s.state.began, s.state.stopping
	s.mu.Unlock()
	switch {
	case isCall && method != "initialize" && !began:
		return nil, jsonrpc2.NewError(jsonrpc2.ServerNotInitialized, "initialize comes first")
	case isCall && stopping:
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server is shutting down")
	case !isCall && !began && method != "exit":
		return nil, nil
	}
	if isCall {
		if f, ok := requests[method]; ok {
			return f(s, ctx, params)
		}
		return nil, jsonrpc2.NewError(jsonrpc2.MethodNotFound, fmt.Sprintf("%.100q is not something that this server does", method))
	}
	if f, ok := notifications[method]; ok {
		return nil, f(s, params)
	}
	return nil, nil // unknown notifications are to be ignored
}
