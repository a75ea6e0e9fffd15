package lsp

import (
	"net/url"
	"path/filepath"
	"strings"
)

// filePath is the path of a file: URI, cleaned; false for what is no file on
// this machine (untitled:, vscode-remote:, git:).
func filePath(u docURI) (string, bool) {
	p, err := url.Parse(string(u))
	if err != nil || p.Scheme != "file" || p.Host != "" && p.Host != "localhost" || !strings.HasPrefix(p.Path, "/") || strings.ContainsRune(p.Path, 0) {
		return "", false
	}
	return filepath.Clean(p.Path), true
}

// fileURI writes a path as VS Code would: it escapes more than Go does.
func fileURI(path string) docURI {
	var b strings.Builder
	b.WriteString("file://")
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("/-_.~", c) >= 0:
			b.WriteByte(c)
		default:
			const hex = "0123456789ABCDEF"
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return docURI(b.String())
}

// within reports whether a path is a folder or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// root is a workspace folder.
type root struct {
	path  string
	real  string // without symbolic links: what compilers write down
	conf  config
	found bool // not the client's: see adopt
}

func newRoot(path string) *root {
	r := &root{path: path, real: path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		r.real = real
	}
	return r
}

// localPath is a compiler's path as the client writes it.
func (s *server) localPath(path, cwd string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	path = filepath.Clean(path)
	for _, r := range s.roots {
		if !within(path, r.path) && r.real != r.path && within(path, r.real) {
			return filepath.Join(r.path, strings.TrimPrefix(path, r.real))
		}
	}
	return path
}

// rootOf is the innermost workspace folder that holds a path; nil if none does.
func (s *server) rootOf(path string) *root {
	var best *root
	for _, r := range s.roots {
		if within(path, r.path) && (best == nil || len(r.path) > len(best.path)) {
			best = r
		}
	}
	return best
}
