package lsp

import (
	"path/filepath"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// hidden is a finding that is not to be shown any more.
type hidden struct {
	Path     string `json:"path"`
	Function string `json:"function"`
	Kind     string `json:"kind"`
	Line     string `json:"line"`
}

// suppression is the edit that adds a finding to those that are not shown. The
// client makes it, so that a person sees it and can undo it; this server
// writes nothing into a workspace.
func (v *view) suppression(h hidden) any {
	r := v.space.Root(h.Path)
	if r == nil {
		return wire.Object{"changes": wire.Object{}}
	}
	rel, err := filepath.Rel(r.Path, h.Path)
	if err != nil {
		rel = h.Path
	}
	add := workspace.Suppression{File: rel, Function: h.Function, Kind: h.Kind, Line: h.Line}.TOML()
	path := filepath.Join(r.Path, workspace.ConfigName)
	uri := v.space.URI(path)
	end := protocol.Position{}
	t := v.space.Text(path)
	if t != nil && t.String() != "" {
		end = t.End(v.enc)
		if end.Character > 0 {
			add = "\n" + add
		}
		add = "\n" + add
	}
	edits := []protocol.TextEdit{{Range: protocol.Range{Start: end, End: end}, NewText: add}}
	exists := t != nil || v.space.Exists(path)
	can := v.client.Workspace.WorkspaceEdit
	if !can.DocumentChanges || !exists && !slices.Contains(can.ResourceOperations, string(protocol.CreateResourceOperation)) {
		return &protocol.WorkspaceEdit{Changes: map[protocol.DocumentURI][]protocol.TextEdit{uri: edits}}
	}
	var changes []any
	if !exists {
		changes = append(changes, &protocol.CreateFile{
			Kind: protocol.CreateResourceOperation, URI: uri, Options: &protocol.CreateFileOptions{IgnoreIfExists: true},
		})
	}
	e := &protocol.TextDocumentEdit{Edits: edits}
	e.TextDocument.URI = uri
	if d := v.space.Open(path); d != nil {
		e.TextDocument.Version = &d.Version
	}
	return wire.DocumentChanges{Changes: append(changes, e)}
}
