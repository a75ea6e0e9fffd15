package lsp

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"go.lsp.dev/jsonrpc2"
)

// document is an open buffer.
type document struct {
	uri      docURI // as the client writes it
	path     string // empty: no file
	language string
	version  int32
	text     *text
	sites    siteMarks
}

// key names a document: two spellings of one URI are one document.
func key(u docURI) string {
	if p, ok := filePath(u); ok {
		return p
	}
	return string(u)
}

type digest = [sha256.Size]byte

func (t *text) digest() digest { return sha256.Sum256([]byte(t.s)) }

func (s *server) didOpen(params json.RawMessage) error {
	var p textDocument
	if err := json.Unmarshal(params, &p); err != nil {
		return invalid(err)
	}
	d := &document{uri: p.TextDocument.URI, language: p.TextDocument.LanguageID, version: p.TextDocument.Version, text: newText(p.TextDocument.Text)}
	d.path, _ = filePath(d.uri)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs[key(d.uri)] = d
	s.recent = d.uri
	s.adopt(d.path)
	s.arrived(d.path, d.text)
	s.publish()
	return nil
}

func (s *server) didChange(params json.RawMessage) error {
	var p struct {
		textDocument
		Changes []contentChange `json:"contentChanges"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return invalid(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[key(p.TextDocument.URI)]
	if d == nil {
		return jsonrpc2.NewError(codeInvalidParams, "the document is not open")
	}
	s.recent = d.uri
	d.version = p.TextDocument.Version
	for _, c := range p.Changes {
		s.edit(d, c)
	}
	s.changed(d.path, d.text)
	s.publish()
	return nil
}

// edit applies one change, and moves what stands in the document.
func (s *server) edit(d *document, c contentChange) {
	old := d.text
	var from, to point
	insert := c.Text
	if c.Range != nil {
		from, to = old.point(s.enc, c.Range.Start), old.point(s.enc, c.Range.End)
	}
	if c.Range == nil || from == (point{}) && old.offset(to) == len(old.s) {
		from, to, insert = change(old, newText(c.Text))
	}
	new, e := old.replace(from, to, insert)
	d.text = new
	d.sites.follow(e, old, new)
	for _, r := range s.results {
		for _, a := range r.anchors {
			if a.path == d.path {
				a.follow(e, old, new)
			}
		}
	}
}

func (s *server) didClose(params json.RawMessage) error {
	var p textDocument
	if err := json.Unmarshal(params, &p); err != nil {
		return invalid(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[key(p.TextDocument.URI)]
	if d == nil {
		return nil
	}
	delete(s.docs, key(p.TextDocument.URI))
	// What counts now is the file, which may be older than the buffer was.
	if d.path != "" && s.marked(d.path) {
		delete(s.disk, d.path)
		if t := s.textOf(d.path); t != nil {
			s.arrived(d.path, t)
		}
	}
	s.publish()
	return nil
}

func (s *server) didSave(params json.RawMessage) error {
	var p textDocument
	if err := json.Unmarshal(params, &p); err != nil {
		return invalid(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path, _ := filePath(p.TextDocument.URI)
	s.adopt(path)
	s.publish()
	return nil
}

// maxSource bounds files that are read to show results in them.
const maxSource = 32 << 20

// textOf is the text of a file as the client has it: its buffer, else the
// file; nil where there is none.
func (s *server) textOf(path string) *text {
	if path == "" {
		return nil
	}
	if t := s.seen[path]; t != nil {
		return t
	}
	if d := s.docs[path]; d != nil {
		return d.text
	}
	if t, ok := s.disk[path]; ok {
		return t
	}
	t := readText(path)
	s.disk[path] = t
	return t
}

// readText reads a regular file of bounded size.
func readText(path string) *text {
	data, err := readBounded(path, maxSource)
	if err != nil {
		return nil
	}
	return newText(string(data))
}

// readBounded reads a regular file; what a workspace names may be a pipe, a
// device, or have no end.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > limit:
		return nil, fmt.Errorf("it is larger than %d MB", limit>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// arrived: a document was opened or closed. Its results follow its text.
func (s *server) arrived(path string, t *text) {
	if path == "" {
		return
	}
	for _, r := range s.results {
		if f := r.files[path]; f != nil {
			f.edited = f.digest != t.digest()
			r.settle(path, t)
		}
	}
}

// changed: a document was edited. A text that is again as it was when the
// program ran has its results where they were then.
func (s *server) changed(path string, t *text) {
	if path == "" {
		return
	}
	var d digest
	known := false
	for _, r := range s.results {
		f := r.files[path]
		if f == nil {
			continue
		}
		if !known {
			d, known = t.digest(), true
		}
		f.edited = f.digest != d
		if !f.edited {
			r.settle(path, t)
		}
	}
}

func (s *server) marked(path string) bool {
	for _, r := range s.results {
		if r.files[path] != nil {
			return true
		}
	}
	return false
}
