package workspace

import (
	"net/url"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
)

// FilePath is the path of a file: URI, cleaned; false for what is no file on
// this machine (untitled:, vscode-remote:, git:).
func FilePath(u protocol.DocumentURI) (string, bool) {
	p, err := url.Parse(string(u))
	if err != nil || p.Scheme != "file" || p.Host != "" && p.Host != "localhost" || !strings.HasPrefix(p.Path, "/") || strings.ContainsRune(p.Path, 0) {
		return "", false
	}
	return filepath.Clean(p.Path), true
}

// FileURI writes a path as VS Code would: it escapes more than Go does.
func FileURI(path string) protocol.DocumentURI {
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
	return protocol.DocumentURI(b.String())
}

// within reports whether a path is a folder or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// key names a document: two spellings of one URI are one document.
func key(u protocol.DocumentURI) string {
	if p, ok := FilePath(u); ok {
		return p
	}
	return string(u)
}
