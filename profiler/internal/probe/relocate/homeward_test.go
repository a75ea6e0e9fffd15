package relocate

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// goProgram builds a program in Go that calls much.
func goProgram(t *testing.T) *image.Image {
	t.Helper()
	dir := t.TempDir()
	source := `package main

import (
	"fmt"
	"os"
	"sort"
)

func main() {
	sort.Strings(os.Args)
	n := len(os.Args)
	show := func(k int) { // is called by its address, which stands there
		fmt.Println(k, os.Args)
		for i := range k {
			n += i
			fmt.Println(os.Args, k, n)
		}
	}
	show(1)
	show(2)
	show(3)
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "prog")
	c := exec.Command("go", "build", "-o", path, filepath.Join(dir, "main.go"))
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	im, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestHomeward: behind each call that a copy in Go makes it is said where the original
// one returns to, and from there a springboard leads behind it; also where little room is
// for that, and much stays in place.
func TestHomeward(t *testing.T) {
	im := goProgram(t)
	for name, x := range map[string]struct {
		opt   probe.Options
		reach int64
		least int
	}{"usual": {probe.Options{}, shortReach, 500}, "crowded": {probe.Options{}, 4, 500}, "held": {probe.Options{HoldSome: true}, shortReach, 250}, "original": {probe.Options{NoLeaf: true}, shortReach, 0}} {
		t.Run(name, func(t *testing.T) {
			s := plan(cfg.Build(im, probetest.Catches), probetest.NoHooks, x.opt, Numbers{}, x.reach)
			c, err := s.Assemble(s.Home())
			if err != nil {
				t.Fatal(err)
			}
			calls, direct := 0, 0
			for i := range s.plans {
				for _, k := range s.Copied(c, i) {
					in, err := x86.Decode(c.Bytes[k.Start:k.End], c.Base+uint64(k.Start))
					if err != nil || !in.Kind.IsCall() {
						continue
					}
					calls++
					if in.Kind == x86.Call {
						direct++
					}
					old, err := x86.Decode(im.Bytes(k.Addr), k.Addr)
					if err != nil {
						t.Fatal(err)
					}
					at := uint64(k.End)
					if ret, ok := asm.HomeOf(c.Bytes[at:], c.Base+at); !ok || ret != old.End() {
						t.Fatalf("behind the copy of the call at %#x: home is %#x (%v)", k.Addr, ret, ok)
					}
					if to, ok := c.Springboard(old.End()); !ok || to != at+asm.HomeLen {
						t.Fatalf("from behind the call at %#x control comes to +%#x (%v), not behind +%#x", k.Addr, to, ok, at)
					}
				}
			}
			if calls < x.least || (direct == calls) != (x.least == 0) || x.least == 0 && calls > 0 {
				t.Errorf("%d calls, %d of them direct", calls, direct)
			}
		})
	}
}
