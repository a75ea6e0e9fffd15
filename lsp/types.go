package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"
)

// The protocol package is of version 3.15. What 3.17 has more, and what its
// types cannot say (an absent range, a percentage of 0), is here.

type (
	position = protocol.Position
	span     = protocol.Range
	location = protocol.Location
	docURI   = protocol.DocumentURI
)

type object = map[string]any

type textDocument struct {
	TextDocument struct {
		URI        docURI `json:"uri"`
		Version    int32  `json:"version"`
		LanguageID string `json:"languageId"`
		Text       string `json:"text"`
	} `json:"textDocument"`
}

type contentChange struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type initializeParams struct {
	ProcessID        *int            `json:"processId"`
	RootURI          *docURI         `json:"rootUri"`
	RootPath         *string         `json:"rootPath"`
	WorkspaceFolders []folder        `json:"workspaceFolders"`
	Capabilities     capabilities    `json:"capabilities"`
	Options          json.RawMessage `json:"initializationOptions"`
}

type folder struct {
	URI  docURI `json:"uri"`
	Name string `json:"name"`
}

// capabilities are those of a client that matter here.
type capabilities struct {
	General struct {
		PositionEncodings []string `json:"positionEncodings"`
	} `json:"general"`
	Window struct {
		WorkDoneProgress bool `json:"workDoneProgress"`
		ShowDocument     struct {
			Support bool `json:"support"`
		} `json:"showDocument"`
	} `json:"window"`
	Workspace struct {
		CodeLens              refreshable `json:"codeLens"`
		InlayHint             refreshable `json:"inlayHint"`
		DidChangeWatchedFiles struct {
			DynamicRegistration bool `json:"dynamicRegistration"`
		} `json:"didChangeWatchedFiles"`
		WorkspaceEdit struct {
			DocumentChanges    bool     `json:"documentChanges"`
			ResourceOperations []string `json:"resourceOperations"`
		} `json:"workspaceEdit"`
	} `json:"workspace"`
}

type refreshable struct {
	RefreshSupport bool `json:"refreshSupport"`
}

type diagnostic struct {
	Range           span             `json:"range"`
	Severity        int              `json:"severity"`
	Code            string           `json:"code,omitempty"`
	CodeDescription *codeDescription `json:"codeDescription,omitempty"`
	Source          string           `json:"source"`
	Message         string           `json:"message"`
	Related         []related        `json:"relatedInformation,omitempty"`
	Data            any              `json:"data,omitempty"`
}

const (
	severityError       = 1
	severityWarning     = 2
	severityInformation = 3
)

type codeDescription struct {
	Href string `json:"href"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

// publishParams has a version of 0 where protocol's would have none, and
// needs a list that is not nil.
type publishParams struct {
	URI         docURI       `json:"uri"`
	Version     *int32       `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type progressValue struct {
	Kind        string `json:"kind"`
	Title       string `json:"title,omitempty"`
	Message     string `json:"message,omitempty"`
	Cancellable *bool  `json:"cancellable,omitempty"`
	Percentage  *int   `json:"percentage,omitempty"`
}

type inlayHint struct {
	Position    position       `json:"position"`
	Label       string         `json:"label"`
	Tooltip     *markupContent `json:"tooltip,omitempty"`
	PaddingLeft bool           `json:"paddingLeft,omitempty"`
}

type markupContent struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markupContent `json:"contents"`
	Range    *span         `json:"range,omitempty"`
}

type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

type codeLens struct {
	Range   span     `json:"range"`
	Command *command `json:"command,omitempty"`
}

type codeAction struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics,omitempty"`
	Edit        any          `json:"edit,omitempty"`
	Command     *command     `json:"command,omitempty"`
}

// arguments of every command; all optional.
type arguments struct {
	URI     docURI `json:"uri,omitempty"`
	Line    *int   `json:"line,omitempty"`
	Section string `json:"section,omitempty"`
	Target  string `json:"target,omitempty"`
	Embed   bool   `json:"embed,omitempty"`  // answer, and show nothing
	Format  string `json:"format,omitempty"` // of a report: html, text
}
