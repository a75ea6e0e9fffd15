package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

func (s *server) initialize(_ context.Context, params json.RawMessage) (any, error) {
	var p wire.InitializeParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.InvalidParams(err)
	}
	var own struct {
		ResultsChanged bool `json:"resultsChanged"`
		Answers        bool `json:"answers"`
		Beside         bool `json:"diagnosticsInHover"`
		Pulls          bool `json:"pullDiagnostics"`
	}
	_ = json.Unmarshal(p.Options, &own) // absent, or another server's
	can, told := p.Capabilities.TextDocument, p.Capabilities.Workspace.Diagnostics.RefreshSupport
	pulls := can.Diagnostic != nil && (own.Pulls && told || can.PublishDiagnostics == nil) // a client that is not told would never ask after a run
	enc := text.Agree(p.Capabilities.General.PositionEncodings)
	space := workspace.New(s.disk)
	for _, path := range folders(p) {
		space = space.WithRoot(workspace.NewRoot(s.disk, path))
	}
	again := false
	s.change(func(st *state) {
		if again = st.began; !again {
			*st = state{began: true, client: p.Capabilities, enc: enc, notify: own.ResultsChanged, answers: own.Answers, beside: own.Beside, pulls: pulls, sent: !pulls || can.PublishDiagnostics != nil, space: space}
		}
	})
	if again {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "initialize came twice")
	}
	if p.ProcessID != nil {
		s.watch(*p.ProcessID)
	}
	return wire.InitializeResult{
		ServerInfo:   protocol.ServerInfo{Name: "skewlens", Version: s.opt.Version},
		Capabilities: capabilities(enc, pulls, can.PublishDiagnostics == nil),
	}, nil
}

func capabilities(enc text.Encoding, pulls, all bool) wire.ServerCapabilities {
	c := wire.ServerCapabilities{
		ServerCapabilities: protocol.ServerCapabilities{
			TextDocumentSync: protocol.TextDocumentSyncOptions{
				OpenClose: true, Change: protocol.TextDocumentSyncKindIncremental, Save: &protocol.SaveOptions{},
			},
			CodeLensProvider:   &protocol.CodeLensOptions{},
			HoverProvider:      true,
			CodeActionProvider: protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{protocol.QuickFix}, ResolveProvider: true},
			Workspace: &protocol.ServerCapabilitiesWorkspace{
				WorkspaceFolders: &protocol.ServerCapabilitiesWorkspaceFolders{Supported: true, ChangeNotifications: true},
			},
		},
		PositionEncoding:  string(enc),
		InlayHintProvider: wire.InlayHintOptions{ResolveProvider: true},
		ExecuteCommandProvider: wire.ExecuteCommandOptions{
			ExecuteCommandOptions: protocol.ExecuteCommandOptions{Commands: commandNames()}, WorkDoneProgress: true,
		},
	}
	if pulls {
		c.DiagnosticProvider = &wire.DiagnosticOptions{InterFileDependencies: true, WorkspaceDiagnostics: all}
	}
	return c
}

// folders are the paths of a client's workspace folders, which it names in one
// of three ways.
func folders(p wire.InitializeParams) []string {
	var uris []protocol.DocumentURI
	switch {
	case p.WorkspaceFolders != nil:
		for _, f := range p.WorkspaceFolders {
			uris = append(uris, protocol.DocumentURI(f.URI))
		}
	case p.RootURI != nil:
		uris = append(uris, *p.RootURI)
	case p.RootPath != nil && filepath.IsAbs(*p.RootPath):
		uris = append(uris, workspace.FileURI(*p.RootPath))
	}
	var paths []string
	for _, u := range uris {
		if path, ok := workspace.FilePath(u); ok {
			paths = append(paths, path)
		}
	}
	return paths
}
