package profiler

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
)

// built compiles C source and returns what came of it, and where its function
// f lies.
func built(t *testing.T, name, source string, flags ...string) (path string, im *image.Image, f *image.Func) {
	t.Helper()
	dir := t.TempDir()
	src, path := filepath.Join(dir, name+".c"), filepath.Join(dir, name)
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", append(flags, "-O1", "-o", path, src)...).CombinedOutput(); err != nil {
		t.Skipf("gcc: %v: %s", err, out)
	}
	im, err := image.OpenLibrary(path)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(im.Funcs, func(f image.Func) bool { return f.Name == "f" })
	if i < 0 {
		t.Fatalf("%s has no function f", path)
	}
	return path, im, &im.Funcs[i]
}

// TestLines: an address is looked up in the file that it is of.
func TestLines(t *testing.T) {
	prog, im, inProg := built(t, "prog", "\nint f(int x) { return x + 1; }\nint main(void) { return f(0); }\n", "-g")
	lib, libIm, inLib := built(t, "lib", "\n\n\n\nint f(int x) { return x * 3; }\n", "-shared", "-fPIC", "-gdwarf-4", "-gsplit-dwarf")
	l, err := OpenLines(prog, profile.Library{Path: lib})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a := profile.Addr(inProg.Addr)
	if x := l.Entry(a); x.Line != 2 || x.Function != "f" || x.Address != a {
		t.Errorf("f begins at %+v", x)
	}
	if key, want := l.Key(a), prog+".c:2"; key != want {
		t.Errorf("the key of f's line is %s, want %s", key, want)
	}
	if key, want := l.Key(0), "0x0"; key != want {
		t.Errorf("the key of an address without a line is %s, want %s", key, want)
	}
	a = profile.LibraryStep + profile.Addr(inLib.Addr)
	if x := l.Locate(a); x.Line != 5 || x.Address != a {
		t.Errorf("the library's f is at %+v", x)
	}
	if x := l.Locate(2*profile.LibraryStep + 5); x.Known() || x.Address != 2*profile.LibraryStep+5 {
		t.Errorf("an address of no file is at %+v", x)
	}
	warned := 0
	for _, w := range l.Warnings() {
		if strings.Contains(w.Message, lib) {
			warned++
		}
	}
	if warned == 0 {
		t.Errorf("no warning says that the library's functions are not in it: %+v", l.Warnings())
	}
	for _, paths := range [][2]string{{"/nowhere", lib}, {prog, "/nowhere"}} {
		if _, err := OpenLines(paths[0], profile.Library{Path: paths[1]}); err == nil {
			t.Errorf("%v: no error", paths)
		}
	}

	read, err := Instructions(profile.Program{Path: prog, BuildID: im.BuildID, Libraries: []profile.Library{{Path: lib, BuildID: libIm.BuildID, Base: profile.LibraryStep}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []profile.Addr{profile.Addr(inProg.Addr), a} {
		got := read(from, from+3) // lea, of three or four bytes
		if len(got) == 0 || got[0] != from || !slices.IsSorted(got) || got[len(got)-1] >= from+3 {
			t.Errorf("the instructions at %#x are %#x", uint64(from), got)
		}
	}
	if got := read(3*profile.LibraryStep, 3*profile.LibraryStep+9); got != nil {
		t.Errorf("a library that there is not has the instructions %#x", got)
	}
	if read, err := Instructions(profile.Program{Path: prog, BuildID: "another"}); read != nil || err != nil {
		t.Errorf("of a program that was built again: %v", err)
	}
	if read, err := Instructions(profile.Program{Path: prog, Libraries: []profile.Library{{Path: lib, BuildID: "another"}}}); read != nil || err != nil {
		t.Errorf("of a library that was built again: %v", err)
	}
	for _, p := range []profile.Program{{Path: "/nowhere"}, {Path: prog, Libraries: []profile.Library{{Path: "/nowhere"}}}} {
		if _, err := Instructions(p); err == nil {
			t.Errorf("%+v: no error", p)
		}
	}
}
