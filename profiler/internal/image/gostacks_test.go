package image

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestGoStacks: of the go command, frames are empty where functions begin, a push
// makes them larger, and control comes in after panics at calls of deferreturn.
func TestGoStacks(t *testing.T) {
	path, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in the path")
	}
	im := load(t, path)
	if im.Go == nil || im.Go.Known() != nil || im.Stripped {
		t.Fatalf("%s: table %v", path, im.Go)
	}
	name := func(addr uint64) string {
		if f := im.FuncAt(addr); f != nil {
			return f.Name
		}
		return ""
	}
	pushes := 0
	for i := range im.Funcs {
		f := &im.Funcs[i]
		is, assembly := im.Go.Begins(f.Addr)
		if size, top, ok := im.Go.Frame(f.Addr); is && ok && !top && size != 0 {
			t.Errorf("%s begins with a frame of %d bytes", f.Name, size)
		}
		for a := f.Addr; is && !assembly && pushes < 1000 && a < f.End(); {
			in, err := x86.Decode(im.Bytes(a), a)
			if err != nil {
				break
			}
			before, _, ok := im.Go.Frame(a)
			if in.Map == 0 && in.Opcode == 0x55 && ok { // push %rbp
				pushes++
				if after, _, ok := im.Go.Frame(in.End()); !ok || after != before+8 {
					t.Errorf("%s at %#x: %d, then %d", f.Name, a, before, after)
				}
			}
			a = in.End()
		}
	}
	if pushes < 1000 {
		t.Errorf("%d frames", pushes)
	}
	if len(im.Pads) < 100 {
		t.Errorf("%d pads", len(im.Pads))
	}
	for _, a := range im.Pads {
		if in, err := x86.Decode(im.Bytes(a), a); err != nil || in.Kind != x86.Call || name(in.Target) != "runtime.deferreturn" {
			t.Fatalf("at the pad %#x of %s is no call of deferreturn", a, name(a))
		}
	}
	for want, function := range map[string]string{"top": "runtime.goexit.abi0", "unknown": "gogo"} {
		i := slices.IndexFunc(im.Funcs, func(f Func) bool { return f.Name == function })
		if _, top, ok := im.Go.Frame(im.Funcs[i].Addr); top != (want == "top") || ok != top {
			t.Errorf("the frame of %s: %v, %v", function, top, ok)
		}
	}
	if _, _, ok := im.Go.Frame(im.Lowest); ok {
		t.Error("a frame before the text")
	}
}

// TestGoVersions: what is older than is known is refused, what is not said is not.
func TestGoVersions(t *testing.T) {
	for v, known := range map[string]bool{"go1.21.13": false, "go1.22": true, "go1.26.8": true, "devel +abcdef": true, "": true} {
		if err := (&GoTable{Version: v}).Known(); (err == nil) != known {
			t.Errorf("%q: %v", v, err)
		} else if err != nil && !strings.Contains(err.Error(), "1.22") {
			t.Error(err)
		}
	}
}

// FuzzGoStacks reads frames of Go's function table.
func FuzzGoStacks(f *testing.F) {
	header := slices.Concat(le(goMagic120, 4), []byte{0, 0, 1, 8}, le(1, 8), le(0, 8), le(0, 8), le(0, 24), le(72, 8), le(80, 8))
	record := slices.Concat(le(0, 4), le(0, 4), le(0, 4), le(5, 4), le(1, 4), le(0, 20), []byte{0, 0})
	table := slices.Concat(header, []byte{0, 2, 1, 16, 4, 0, 0, 0}, le(0, 4), le(12, 4), le(0x10, 4), record)
	got, pads, err := readGoStacks(table, 0x1000, 0x1030)
	if err != nil || !slices.Equal(pads, []uint64{0x1005}) {
		f.Fatalf("%+v, %#x, %v", got, pads, err)
	}
	for addr, want := range map[uint64]int64{0x1000: 0, 0x1001: 8, 0x1004: 8} {
		if size, _, ok := got.Frame(addr); !ok || size != want {
			f.Errorf("at %#x %d, %v, want %d", addr, size, ok, want)
		}
	}
	f.Add(table)
	f.Fuzz(func(t *testing.T, data []byte) {
		g, pads, err := readGoStacks(data, 0x1000, 0x100000)
		if err != nil {
			return
		}
		for _, a := range pads {
			if a < 0x1000 || a >= 0x100000 {
				t.Fatalf("a pad at %#x", a)
			}
		}
		for addr := uint64(0x1000); addr < 0x1100; addr++ {
			if size, _, ok := g.Frame(addr); ok && size < 0 {
				t.Fatalf("a frame of %d bytes", size)
			}
		}
	})
}
