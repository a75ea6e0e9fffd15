package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/profile"
)

var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T) string {
	t.Helper()
	return must(filepath.EvalSymlinks(t.TempDir()))
}

func document(path, language, content string) *Document {
	return NewDocument(protocol.TextDocumentItem{URI: FileURI(path), LanguageID: protocol.LanguageIdentifier(language), Version: 1, Text: content})
}

// counting is a disk and how often it did what.
func counting() (*Disk, map[string]int) {
	n := map[string]int{}
	return &Disk{Watch: func(op, path string) { n[op+" "+filepath.Base(path)]++ }}, n
}

// What was handed out stays as it was, whatever is made of it.
func TestAWorkspaceDoesNotChange(t *testing.T) {
	d := &Disk{}
	a := document("/w/a.c", "c", "one")
	w := New(d).WithRoot(NewRoot(d, "/w")).WithDocument(a)
	next := a.Edited(2, []text.Edit{a.Text.Apply(text.UTF16, nil, "two")})
	other := w.WithDocument(next).WithoutRoot("/w").WithDocument(document("/w/b.c", "c", ""))
	none := w.WithoutDocument(a.URI)
	if w.Open("/w/a.c") != a || a.Text.String() != "one" || a.Version != 1 || len(w.Roots()) != 1 || w.Open("/w/b.c") != nil {
		t.Errorf("the first is %+v", w)
	}
	if got := other.Document("file:///w/../w/a.c"); got != next || got.Text.String() != "two" || got.Version != 2 || len(other.Roots()) != 0 {
		t.Errorf("the other is %+v", other)
	}
	if none.Open("/w/a.c") != nil {
		t.Error("it is closed, and open")
	}
}

// Buffers count before files; a file is read once until it is forgotten.
func TestTexts(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "a.c")
	put(t, path, "disk")
	d, n := counting()
	w := New(d)
	for range 3 {
		if got := w.Text(path).String(); got != "disk" {
			t.Errorf("got %q", got)
		}
	}
	if n["read a.c"] != 1 {
		t.Errorf("the file was read %d times", n["read a.c"])
	}
	put(t, path, "newer")
	if got := w.Text(path).String(); got != "disk" {
		t.Errorf("got %q before it is forgotten", got)
	}
	d.Forget(path + "x")
	d.Forget(path)
	if got := w.Text(path).String(); got != "newer" {
		t.Errorf("got %q", got)
	}
	d.Forget()
	open := w.WithDocument(document(path, "c", "buffer"))
	if got := open.Text(path).String(); got != "buffer" || n["read a.c"] != 2 {
		t.Errorf("got %q, %d reads", got, n["read a.c"])
	}
	if w.Text("") != nil || w.Text(dir) != nil || w.Text(path+"x") != nil {
		t.Error("there is a text of nothing")
	}
	if !w.Exists(path) || w.Exists(path+"x") || !w.WithDocument(document(path+"x", "c", "")).Exists(path+"x") {
		t.Error("what exists")
	}
}

// A text that was read before a change is not kept after it.
func TestAReadThatIsOvertaken(t *testing.T) {
	path := filepath.Join(folder(t), "a.c")
	put(t, path, "old")
	d := &Disk{}
	d.Watch = func(op, _ string) {
		if op == "stat" { // it is being read, and what changes it is told now
			d.Watch = nil
			d.Forget()
		}
	}
	w := New(d)
	w.Text(path)
	put(t, path, "new")
	if got := w.Text(path).String(); got != "new" {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsReadIsRegularAndBounded(t *testing.T) {
	dir := folder(t)
	d := &Disk{}
	pipe, big := filepath.Join(dir, "pipe"), filepath.Join(dir, "big")
	must(0, syscall.Mkfifo(pipe, 0o600))
	put(t, big, "x")
	must(0, os.Truncate(big, 3<<20))
	for path, want := range map[string]string{pipe: "not a regular file", dir: "not a regular file", "/dev/zero": "not a regular file", big: "larger than 2 MB", dir + "/none": "no such file"} {
		if _, err := d.Read(path, 2<<20); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// A configuration is read when it changes, and looked at otherwise.
func TestConfigurationIsReadOncePerChange(t *testing.T) {
	dir := folder(t)
	config := filepath.Join(dir, ConfigName)
	put(t, config, "[[target]]\nprogram = \"a\"\n")
	d, n := counting()
	w := New(d).WithRoot(NewRoot(d, dir))
	again := func(reads int, target string) {
		t.Helper()
		for range 5 {
			w = w.WithRead(w.Reread())
		}
		if got := n["read "+ConfigName]; got != reads {
			t.Errorf("it was read %d times, want %d", got, reads)
		}
		if names := w.Targets(); len(names) != 1 || names[0].Name != target {
			t.Errorf("targets %v, want %s", names, target)
		}
	}
	again(1, "a")
	put(t, config, "[[target]]\nprogram = \"bb\"\n")
	again(2, "bb")
	doc := document(config, "toml", "[[target]]\nprogram = \"c\"\n")
	w = w.WithDocument(doc)
	again(2, "c")
	w = w.WithDocument(doc.Edited(2, []text.Edit{doc.Text.Apply(text.UTF16, nil, "[[target]]\nprogram = \"d\"\n")}))
	again(2, "d")
	w = w.WithoutDocument(doc.URI)
	again(3, "bb")
	must(0, os.Remove(config))
	put(t, filepath.Join(dir, LaunchName), `{"configurations": [{"name": "l", "type": "lldb", "request": "launch", "program": "p"}]}`)
	again(3, "l")
	if !w.Configures(config) || !w.Configures(filepath.Join(dir, LaunchName)) || w.Configures(filepath.Join(dir, "sub", ConfigName)) {
		t.Error("what configures")
	}
	put(t, config+"/x", "")
	w = w.WithRead(w.Reread())
	if p := w.Roots()[0].Problems[config]; len(p) != 1 || !strings.Contains(p[0].Message, "cannot be read") {
		t.Errorf("of a folder in its place: %+v", p)
	}
}

func TestRoots(t *testing.T) {
	dir := folder(t)
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	put(t, filepath.Join(real, "sub", "a.c"), "")
	must(0, os.Symlink(real, link))
	d := &Disk{}
	w := New(d).WithRoot(NewRoot(d, link)).WithRoot(NewRoot(d, filepath.Join(link, "sub")))
	for path, want := range map[string]string{
		filepath.Join(real, "a.c"): filepath.Join(link, "a.c"), "a.c": filepath.Join(link, "cwd", "a.c"),
		"../b.c": filepath.Join(link, "b.c"), "/usr/include/x.h": "/usr/include/x.h",
	} {
		if got := w.Local(path, filepath.Join(link, "cwd")); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if r := w.Root(filepath.Join(link, "sub", "a.c")); r == nil || r.Path != filepath.Join(link, "sub") {
		t.Errorf("the innermost folder is %+v", r)
	}
	if w.Root("/elsewhere") != nil {
		t.Error("a folder of nothing")
	}
	if again := w.WithRoot(NewRoot(d, link)); len(again.Roots()) != 2 {
		t.Errorf("a folder that is there already makes %d", len(again.Roots()))
	}
	open := w.WithDocument(NewDocument(protocol.TextDocumentItem{URI: "file:///a%2Bb.c"}))
	if open.URI("/a+b.c") != "file:///a%2Bb.c" || w.URI("/a+b.c") != FileURI("/a+b.c") {
		t.Error("a URI is written as the client does, if that is known")
	}
}

// Without a folder of the client's the nearest configuration above a file
// counts, if it is the user's own and not above the home folder.
func TestAdopt(t *testing.T) {
	top := folder(t)
	home := filepath.Join(top, "home")
	t.Setenv("HOME", home)
	for _, dir := range []string{top, home + "/a", home + "/a/b"} {
		put(t, filepath.Join(dir, ConfigName), "[[target]]\nprogram = \"p\"\n")
	}
	put(t, home+"/a/link/x.c", "")
	must(0, os.Symlink("../"+ConfigName, home+"/a/link/"+ConfigName))
	put(t, home+"/a/b/c/x.c", "")
	d := &Disk{}
	w := New(d)
	for path, want := range map[string]string{
		home + "/a/b/c/x.c": home + "/a/b", home + "/a/x.c": home + "/a", home + "/x.c": "", home + "/a/link/x.c": home + "/a",
		home + "/none/x.c": "", "": "",
	} {
		got := ""
		if r := w.Adopt(path); r != nil {
			got = r.Path
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	adopted := w.WithRoot(w.Adopt(home + "/a/x.c"))
	if adopted.Adopt(home+"/a/y.c") != nil {
		t.Error("adopted twice")
	}
	adopted = adopted.WithRead(adopted.Reread())
	if len(adopted.Targets()) != 1 {
		t.Errorf("targets %v", adopted.Targets())
	}
	// Somebody puts a link in its place: what it says does not count.
	must(0, os.Remove(home+"/a/"+ConfigName))
	must(0, os.Symlink(top+"/"+ConfigName, home+"/a/"+ConfigName))
	adopted = adopted.WithRead(adopted.Reread())
	if len(adopted.Targets()) != 0 || len(adopted.Reread()) != 0 {
		t.Errorf("targets of a link: %v", adopted.Targets())
	}
	if New(d).WithRoot(NewRoot(d, home+"/elsewhere")).Adopt(home+"/a/x.c") != nil {
		t.Error("beside a folder of the client's")
	}
}

func TestSuppressed(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, ConfigName), Suppression{File: "a.c", Kind: "branch"}.TOML())
	d := &Disk{}
	w := New(d).WithRoot(NewRoot(d, dir))
	w = w.WithRead(w.Reread())
	a := filepath.Join(dir, "a.c")
	if !w.Suppressed(a, "f", "branch", "if (x)") || w.Suppressed(a, "f", "loop", "") || w.Suppressed("/elsewhere/a.c", "f", "branch", "") {
		t.Errorf("suppressions %+v", w.Roots()[0].Suppress)
	}
}

func TestUnsaved(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, "saved.c"), "same")
	put(t, filepath.Join(dir, "edited.go"), "old")
	put(t, filepath.Join(dir, "notes.txt"), "old")
	put(t, filepath.Join(dir, "folder.c", "x"), "")
	w := New(&Disk{})
	for name, content := range map[string]string{"saved.c": "same", "edited.go": "new", "notes.txt": "new", "sub/new.rs": "", "folder.c": ""} {
		w = w.WithDocument(document(filepath.Join(dir, name), "", content))
	}
	w = w.WithDocument(document("/elsewhere/x.c", "c", "")).WithDocument(NewDocument(protocol.TextDocumentItem{URI: "untitled:x.c", LanguageID: "c"}))
	if got := w.Unsaved(Target{Root: dir}); !slices.Equal(got, []string{"edited.go", "sub/new.rs"}) {
		t.Errorf("unsaved are %v", got)
	}
}

// What programs know of a file counts while it is what they were built from.
func TestSites(t *testing.T) {
	dir := folder(t)
	path, program := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	const source = "x\npthread_join(a, b);\nmacro();\n"
	put(t, path, source)
	put(t, program, "program")
	put(t, filepath.Join(dir, ConfigName), "[[target]]\nprogram = \"a\"\n[[target]]\nprogram = \"none\"\n")
	age := func(of string, d time.Duration) { must(0, os.Chtimes(of, noon.Add(d), noon.Add(d))) }
	age(path, 0)
	age(program, time.Hour)
	d, n := counting()
	w := New(d).WithRoot(NewRoot(d, dir))
	w = w.WithRead(w.Reread())
	programs := NewPrograms(d, func(string) ([]profile.Location, error) {
		return []profile.Location{
			{Frame: profile.Frame{File: "/usr/include/thread", Line: 9}, InlinedAt: []profile.Frame{{File: path, Line: 3}}},
			{Frame: profile.Frame{File: filepath.Join(dir, "other.c"), Line: 1}},
		}, nil
	})
	doc := document(path, "c", source)
	w = w.WithDocument(doc)
	lines := func(d *Document) []int {
		var out []int
		for l := range d.SiteLines() {
			out = append(out, l)
		}
		slices.Sort(out)
		return out
	}
	if got := lines(doc); !slices.Equal(got, []int{1}) {
		t.Errorf("a scan finds %v", got)
	}
	if programs.Hold(w, w.Targets()[0], filepath.Join(dir, "other.c")) {
		t.Error("known before it was read")
	}
	sited := w.Sited(doc, programs)
	if got := lines(sited); !slices.Equal(got, []int{2}) {
		t.Errorf("the program knows %v", got)
	}
	w = w.WithSites(sited)
	if now := w.Open(path); w.Sited(now, programs) != now || n["read a"] != 1 {
		t.Errorf("the program was read %d times, and known is news", n["read a"])
	}
	if !programs.Hold(w, w.Targets()[0], filepath.Join(dir, "other.c")) || programs.Hold(w, w.Targets()[1], path) {
		t.Error("what programs hold")
	}
	edited := w.Open(path).Edited(2, []text.Edit{doc.Text.Apply(text.UTF16, &protocol.Range{}, "pthread_join(c, d);\n")})
	if got := lines(edited); !slices.Equal(got, []int{0, 2, 3}) {
		t.Errorf("after an edit %v", got)
	}
	if w = w.WithDocument(edited).WithSites(sited); w.Open(path) != edited {
		t.Error("sites of an older text were taken over")
	}
	if w.Sited(document(path, "c", source+"\n"), programs) == sited || lines(w.Sited(document(path, "c", source+"\n"), programs))[0] != 1 {
		t.Error("a text that is not the file's has its sites")
	}
	age(path, 2*time.Hour)
	if got := w.Sited(doc, programs); got != doc {
		t.Errorf("a file newer than its program has %v", lines(got))
	}
	for _, other := range []*Document{document("/elsewhere/a.c", "c", ""), document(filepath.Join(dir, "gone.c"), "c", "")} {
		if w.Sited(other, programs) != other {
			t.Errorf("%s has sites", other.Path)
		}
	}
	if w.Sited(doc, NewPrograms(d, nil)) != doc {
		t.Error("nothing finds sites")
	}
}

func TestLanguages(t *testing.T) {
	for _, c := range []struct{ language, path, want string }{
		{"cuda", "", "c"}, {"rust", "", "rust"}, {"FortranFreeForm", "", "fortran"}, {"", "x.HPP", "c"}, {"", "x.rs", "rust"}, {"", "x.f95", "fortran"}, {"plaintext", "x.py", ""},
	} {
		if got := languageOf(c.language, c.path); got != c.want {
			t.Errorf("%s %s is %q, want %q", c.language, c.path, got, c.want)
		}
	}
}

func TestVariables(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	t.Setenv("WHAT", "x")
	v := &variables{dir: "/w/here"}
	if got := v.expand("${workspaceFolder} ${workspaceFolderBasename} ${userHome}${/}${env:WHAT}"); got != "/w/here here /home/u/x" || v.unknown != "" {
		t.Errorf("got %q, unknown %q", got, v.unknown)
	}
	if v.expand("${file}"); v.unknown != "file" {
		t.Errorf("unknown is %q", v.unknown)
	}
}
