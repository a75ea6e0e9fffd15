package workspace

import (
	"testing"

	"go.lsp.dev/protocol"
)

func TestURIs(t *testing.T) {
	for _, path := range []string{"/a/b.c", "/a b/ü+%.c", "/a#?&.c", "/𝄞.c"} {
		if got, ok := FilePath(FileURI(path)); !ok || got != path {
			t.Errorf("%s became %s and that %s", path, FileURI(path), got)
		}
	}
	for uri, want := range map[protocol.DocumentURI]string{
		"file:///a/b%2Bc.c": "/a/b+c.c", "file:///a/b+c.c": "/a/b+c.c", "file:///a/../b.c": "/b.c", "file://localhost/x": "/x", "file:///c%3A/x": "/c:/x",
		"untitled:Untitled-1": "", "vscode-remote://host/a.c": "", "file://server/share": "", "": "", "%": "", "file:relative": "", "file:///a%00b": "",
	} {
		if got, ok := FilePath(uri); got != want || ok != (want != "") {
			t.Errorf("%q is %q, %v; want %q", uri, got, ok, want)
		}
	}
	if !within("/a/b", "/a") || !within("/a", "/") || within("/ab", "/a") {
		t.Error("within")
	}
}
