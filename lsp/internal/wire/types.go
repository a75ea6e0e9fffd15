package wire

import (
	"encoding/json"
	"slices"

	"go.lsp.dev/protocol"
)

// Object is what has no type: answers of this server's own commands, and data
// that goes through.
type Object = map[string]any

// InitializeParams has only what this server reads: the library decodes all
// capabilities, and fails at those of 3.17 that have another shape by now
// (textDocument.semanticTokens.requests.range: {}).
type InitializeParams struct {
	ProcessID        *int                       `json:"processId"`
	RootURI          *protocol.DocumentURI      `json:"rootUri"`
	RootPath         *string                    `json:"rootPath"`
	WorkspaceFolders []protocol.WorkspaceFolder `json:"workspaceFolders"`
	Capabilities     ClientCapabilities         `json:"capabilities"`
	Options          json.RawMessage            `json:"initializationOptions"`
}

// ClientCapabilities are those that matter here. Of 3.17 are positionEncodings,
// diagnostic, and inlayHint, whose refreshSupport is that of codeLens.
type ClientCapabilities struct {
	General struct {
		PositionEncodings []string `json:"positionEncodings"`
	} `json:"general"`
	Window struct {
		WorkDoneProgress bool                                    `json:"workDoneProgress"`
		ShowDocument     protocol.ShowDocumentClientCapabilities `json:"showDocument"`
	} `json:"window"`
	TextDocument struct {
		Diagnostic         *struct{} `json:"diagnostic"` // nil: it does not ask for them
		PublishDiagnostics *struct{} `json:"publishDiagnostics"`
		InlayHint          Resolving `json:"inlayHint"`
		CodeAction         Resolving `json:"codeAction"`
	} `json:"textDocument"`
	Workspace struct {
		CodeLens              protocol.CodeLensWorkspaceClientCapabilities              `json:"codeLens"`
		InlayHint             protocol.CodeLensWorkspaceClientCapabilities              `json:"inlayHint"`
		Diagnostics           protocol.CodeLensWorkspaceClientCapabilities              `json:"diagnostics"`
		DidChangeWatchedFiles protocol.DidChangeWatchedFilesWorkspaceClientCapabilities `json:"didChangeWatchedFiles"`
		WorkspaceEdit         protocol.WorkspaceClientCapabilitiesWorkspaceEdit         `json:"workspaceEdit"`
	} `json:"workspace"`
}

// Resolving is what a client asks for when it needs it.
type Resolving struct {
	ResolveSupport struct {
		Properties []string `json:"properties"`
	} `json:"resolveSupport"`
}

// Later reports whether a client asks for a property when it needs it.
func (r Resolving) Later(property string) bool {
	return slices.Contains(r.ResolveSupport.Properties, property)
}

// InitializeResult is the library's, with the capabilities below.
type InitializeResult struct {
	Capabilities ServerCapabilities  `json:"capabilities"`
	ServerInfo   protocol.ServerInfo `json:"serverInfo"`
}

// ServerCapabilities are the library's and those of 3.17: the encoding of
// positions, inlay hints, and progress of commands.
type ServerCapabilities struct {
	protocol.ServerCapabilities
	PositionEncoding       string                `json:"positionEncoding"`
	InlayHintProvider      InlayHintOptions      `json:"inlayHintProvider"`
	DiagnosticProvider     *DiagnosticOptions    `json:"diagnosticProvider,omitempty"`
	ExecuteCommandProvider ExecuteCommandOptions `json:"executeCommandProvider"`
}

// InlayHintOptions are of 3.17.
type InlayHintOptions struct {
	ResolveProvider bool `json:"resolveProvider"`
}

// DiagnosticOptions are of 3.17.
type DiagnosticOptions struct {
	InterFileDependencies bool `json:"interFileDependencies"`
	WorkspaceDiagnostics  bool `json:"workspaceDiagnostics"`
}

// DocumentDiagnosticParams are of 3.17.
type DocumentDiagnosticParams struct {
	TextDocument protocol.TextDocumentIdentifier `json:"textDocument"`
	Previous     string                          `json:"previousResultId"`
}

// WorkspaceDiagnosticParams are of 3.17.
type WorkspaceDiagnosticParams struct {
	Previous []struct {
		URI   protocol.DocumentURI `json:"uri"`
		Value string               `json:"value"`
	} `json:"previousResultIds"`
}

// DiagnosticReport is of 3.17: of a document, or, with a URI, one of a workspace.
// Items is nil where Kind is unchanged.
type DiagnosticReport struct {
	URI      protocol.DocumentURI   `json:"uri,omitempty"`
	Version  any                    `json:"version,omitempty"` // of one of a workspace: an *int32, which may be nil
	Kind     string                 `json:"kind"`
	ResultID string                 `json:"resultId"`
	Items    *[]protocol.Diagnostic `json:"items,omitempty"`
}

// ExecuteCommandOptions are the library's and workDoneProgress, which it lacks.
type ExecuteCommandOptions struct {
	protocol.ExecuteCommandOptions
	WorkDoneProgress bool `json:"workDoneProgress"`
}

// DidChangeTextDocumentParams have changes without a range: of the whole text.
// The library's would be at the first character.
type DidChangeTextDocumentParams struct {
	TextDocument protocol.VersionedTextDocumentIdentifier `json:"textDocument"`
	Changes      []ContentChange                          `json:"contentChanges"`
}

// ContentChange is one of them; Range is nil where it is of the whole text.
type ContentChange struct {
	Range *protocol.Range `json:"range"`
	Text  string          `json:"text"`
}

// PublishDiagnosticsParams have a version of 0, where the library's would have
// none. Diagnostics must not be nil.
type PublishDiagnosticsParams struct {
	URI         protocol.DocumentURI  `json:"uri"`
	Version     *int32                `json:"version,omitempty"`
	Diagnostics []protocol.Diagnostic `json:"diagnostics"`
}

// ProgressParams have a token as it came: the library makes 0 of "", and
// refuses numbers of more than 32 bits. It goes back to who chose it.
type ProgressParams struct {
	Token json.RawMessage `json:"token"`
	Value any             `json:"value,omitempty"`
}

// ProgressReport has a percentage of 0, which the library's leaves out.
type ProgressReport struct {
	Kind       protocol.WorkDoneProgressKind `json:"kind"`
	Message    string                        `json:"message,omitempty"`
	Percentage *int                          `json:"percentage,omitempty"`
}

// ExecuteCommandParams have arguments that are not decoded yet, and a token as
// it came, as [ProgressParams].
type ExecuteCommandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
	Token     json.RawMessage   `json:"workDoneToken"`
}

// InlayHintParams are of 3.17.
type InlayHintParams struct {
	TextDocument protocol.TextDocumentIdentifier `json:"textDocument"`
	Range        protocol.Range                  `json:"range"`
}

// CauseData says which cause a hint is about that is told in full when asked.
type CauseData struct {
	Root    string `json:"root"`
	Target  string `json:"target"`
	Section string `json:"section"`
	Rank    int    `json:"rank"`
}

// InlayHint is of 3.17.
type InlayHint struct {
	Position    protocol.Position       `json:"position"`
	Label       string                  `json:"label"`
	Tooltip     *protocol.MarkupContent `json:"tooltip,omitempty"`
	PaddingLeft bool                    `json:"paddingLeft,omitempty"`
	Data        *CauseData              `json:"data,omitempty"`
}

// CodeAction has an edit that may create a file: a *protocol.WorkspaceEdit or a
// [DocumentChanges].
type CodeAction struct {
	protocol.CodeAction
	Edit any `json:"edit,omitempty"`
}

// DocumentChanges are an edit's, each a *protocol.CreateFile or a
// *protocol.TextDocumentEdit; the library's hold only the latter.
type DocumentChanges struct {
	Changes []any `json:"documentChanges"`
}

// ShowDocumentParams say so where a document is not external: the library's
// leave a false out, and the protocol names no default.
type ShowDocumentParams struct {
	URI       protocol.URI    `json:"uri"`
	External  bool            `json:"external"`
	TakeFocus bool            `json:"takeFocus"`
	Selection *protocol.Range `json:"selection,omitempty"`
}
