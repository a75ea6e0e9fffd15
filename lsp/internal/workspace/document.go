package workspace

import (
	"path/filepath"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/text"
)

// Document is an open buffer. It never changes: an edit makes another.
type Document struct {
	URI      protocol.DocumentURI // as the client writes it
	Path     string               // empty: no file
	Language string
	Version  int32
	Text     *text.Text

	sites siteMarks
}

// NewDocument is a document as it was opened.
func NewDocument(t protocol.TextDocumentItem) *Document {
	d := &Document{URI: t.URI, Language: string(t.LanguageID), Version: t.Version, Text: text.New(t.Text)}
	d.Path, _ = FilePath(d.URI)
	return d
}

// Edited is the document after edits, of which the first is of its text and
// each other of the one before.
func (d *Document) Edited(version int32, edits []text.Edit) *Document {
	next := *d
	next.Version = version
	for _, e := range edits {
		next.Text = e.New
		next.sites = next.sites.follow(e)
	}
	return &next
}

// compiled: editing it changes a program.
func (d *Document) compiled() bool {
	return languageOf(d.Language, d.Path) != "" || filepath.Ext(d.Path) == ".go"
}

// asFile reports whether a document is as its file, which is read for it.
func (d *Document) asFile(disk *Disk) (bool, error) {
	data, err := disk.Read(d.Path, maxSource)
	return err == nil && d.Text.Shows(data), err
}
