package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// didSave: a configuration may have been made above the file.
func (s *server) didSave(params json.RawMessage) error {
	var p protocol.DidSaveTextDocumentParams
	if err := json.Unmarshal(params, &p); err != nil {
		return wire.InvalidParams(err)
	}
	path, _ := workspace.FilePath(p.TextDocument.URI)
	s.adopt(path)
	s.configure()
	s.publish()
	return nil
}
