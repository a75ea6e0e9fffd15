package native

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
)

// TestSynchronises: who is left where it is although caches are simulated.
func TestSynchronises(t *testing.T) {
	for file, want := range map[string]bool{"/lib/ld-linux-x86-64.so.2": true, "/lib/ld-musl-x86_64.so.1": true, "/usr/lib/libgomp.so.1": true, "/usr/lib/libtbbmalloc.so.2": true,
		"/usr/lib/libmpi.so.40": true, "/lib/libpthread.so.0": true, "/lib/libc.so.6": false, "/lib/libm.so.6": false, "/usr/lib/libstdc++.so.6": false, "/usr/lib/libopenblas.so.0": false} {
		if got := synchronises(file); got != want {
			t.Errorf("%s: %v", file, got)
		}
	}
}

// TestAsideHome: copies of libraries that are not counted have places of their own, within
// reach, which counted ones do not want.
func TestAsideHome(t *testing.T) {
	in := &injection{modules: []*module{nil}}
	im := &image.Image{Lowest: 0, Highest: 2 << 20}
	for range 15 {
		in.modules = append(in.modules, &module{analysis: &analysis{im: im}})
	}
	in.house()
	taken := map[uint64]bool{}
	for _, m := range in.modules[1:] {
		taken[m.home] = true
	}
	for n := range 15 {
		at := asideHome(im, n)
		if taken[at] || -at+im.Highest >= relocate.Reach {
			t.Errorf("the copy of number %d lies at %#x", n, at)
		}
		taken[at] = true
	}
	if besideRank("/lib/libc.so.6") != 0 || besideRank("/lib/libm.so.6") != 1 || besideRank("/usr/lib/libz.so.1") != 4 {
		t.Error("the C library is not first")
	}
}

// TestSilentAnalysis: functions that make system calls stay; and an analysis that was kept
// is the same.
func TestSilentAnalysis(t *testing.T) {
	im := libc(t)
	o := options{probe: probe.Options{NoCounters: true, Library: true, Caches: probe.Front{Sets: 64, Shift: 6}}, beside: anything, home: asideHome(im, 0)}
	dir := t.TempDir()
	a, err := analyse(im, o, dir)
	if err != nil {
		t.Fatal(err)
	}
	a.save()
	b, err := analyse(im, o, dir)
	if err != nil || !b.restored || string(b.code.Bytes) != string(a.code.Bytes) || b.spec.Next() != a.spec.Next() {
		t.Fatalf("restored: %v, %v", b != nil && b.restored, err)
	}
	moved := 0
	for _, f := range a.spec.Program.Funcs {
		if f.CallsKernel() && f.Skip == "" {
			t.Errorf("%s makes system calls and is moved", f.Name)
		}
		if f.Skip == "" {
			moved++
		}
	}
	for _, name := range []string{"malloc", "free", "qsort", "memcpy", "strlen", "vfprintf", "fread"} {
		for _, f := range a.spec.Program.Funcs {
			if f.Name == name && f.Skip != "" {
				t.Errorf("%s stays: %s", name, f.Skip)
			}
		}
	}
	if all := len(a.spec.Program.Funcs); moved < all*4/5 {
		t.Errorf("%d of %d functions are moved", moved, all)
	}
}

// libc is this machine's.
func libc(t *testing.T) *image.Image {
	t.Helper()
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		if im, err := image.OpenLibrary(path); err == nil {
			return im
		}
	}
	t.Skip("the C library is not where it is on most machines")
	return nil
}
