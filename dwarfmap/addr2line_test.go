package dwarfmap

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"
	"github.com/skewlens/skewlens/profile"
)

// asked is what addr2line -a -i -f says of one address, innermost first.
type asked struct {
	addr   uint64
	frames []profile.Frame // Line 0: "?"
}

// addr2line asks about many addresses.
func addr2line(t testing.TB, tool, program string, addrs []uint64) []asked {
	t.Helper()
	c := exec.Command(tool, "-a", "-i", "-f", "-e", program)
	var in bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	c.Stdin = &in
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var all []asked
	s := bufio.NewScanner(bytes.NewReader(out))
	for s.Scan() {
		line := s.Text()
		if strings.HasPrefix(line, "0x") {
			a, err := strconv.ParseUint(line[2:], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, asked{addr: a})
			continue
		}
		s.Scan()
		last := &all[len(all)-1]
		last.frames = append(last.frames, parsePlace(line, s.Text()))
	}
	return all
}

func parsePlace(function, place string) profile.Frame {
	place, _, _ = strings.Cut(place, " (discriminator")
	file, line, _ := cutLast(place, ":")
	n, _ := strconv.Atoi(line) // "?" is 0
	f := profile.Frame{File: path.Clean(file), Line: n, Function: function}
	if file == "??" || n == 0 {
		f.File = ""
	}
	if function == "??" {
		f.Function = ""
	}
	return f
}

func cutLast(s, sep string) (string, string, bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// everyByte lists the addresses inside the functions of the program's own
// sources: each byte, not only where instructions begin, since a table has no
// instructions.
func everyByte(m *Map, step uint64) []uint64 {
	var addrs []uint64
	for _, s := range m.symbols {
		if strings.HasPrefix(s.name, "_start") || s.rank < 8 {
			continue
		}
		for a := s.lo; a < s.hi; a += step {
			addrs = append(addrs, a)
		}
	}
	return addrs
}

func frames(l profile.Location) []profile.Frame {
	fs := append([]profile.Frame{l.Frame}, l.InlinedAt...)
	for i := range fs {
		fs[i].Column = 0 // addr2line has none
	}
	return fs
}

// compare asks addr2line about every byte of a program's functions; LLVM's
// too where it is installed.
func compare(t *testing.T, program string, step uint64) {
	t.Helper()
	m := open(t, program)
	m.plain = true
	addrs := everyByte(m, step)
	compareWith(t, m, addr2line(t, need(t, "addr2line"), program, addrs), sameGNU)
	if llvm, err := exec.LookPath("llvm-addr2line"); err == nil {
		compareWith(t, m, addr2line(t, llvm, program, addrs), same)
	}
}

func compareWith(t *testing.T, m *Map, all []asked, same func(got, want []profile.Frame) bool) {
	t.Helper()
	wrong, lines, inlined := 0, 0, 0
	for _, want := range all {
		l := m.Locate(profile.Addr(want.addr))
		if l.Known() {
			lines++
		}
		inlined += len(l.InlinedAt)
		if l.File != "" && l.Line == 0 {
			t.Fatalf("%#x: line 0 is shown: %+v", want.addr, l)
		}
		// Line 0: addr2line says "?", we show the row before it (package comment).
		if want.frames[0].Line == 0 && l.Line > 0 || same(frames(l), want.frames) {
			continue
		}
		if wrong++; wrong <= 2 {
			t.Errorf("%#x:\n got %.500v\nwant %.500v", want.addr, fmt.Sprint(frames(l)), fmt.Sprint(want.frames))
		}
	}
	if wrong > 0 || len(all) == 0 {
		t.Errorf("%d of %d differ", wrong, len(all))
	}
	t.Logf("%d addresses, %d with lines, %d inlined frames; warnings %v", len(all), lines, inlined, m.Warnings())
}

func same(got, want []profile.Frame) bool {
	return len(got) == len(want) && sameFrames(got, want)
}

func sameFrames(got, want []profile.Frame) bool {
	for i := range got {
		g, w := got[i], want[i]
		// The outermost function both addr2lines name by its symbol, which
		// may be a clone (.cold) or an alias (a constructor's C1 and C2).
		if i == len(got)-1 {
			g.Function, w.Function = outer(g.Function), outer(w.Function)
		}
		if g != w {
			return false
		}
	}
	return true
}

func outer(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return demangle.Filter(name, demangle.NoParams)
}

// sameGNU forgives what GNU addr2line 2.40 gets wrong; LLVM's agrees with us
// on all of it, and readelf (TestAgainstReadelf) on the first:
//   - in a DWARF 5 line table that does not set the file first, it takes the
//     unit's main file for file 1;
//   - it loses inlined calls whose ranges are in several pieces;
//   - it names the innermost of several functions by the symbol there, which
//     is the outermost's, where the address begins a range or a clone.
func sameGNU(got, want []profile.Frame) bool {
	if got[0].Line != want[0].Line || len(got) < len(want) {
		return false
	}
	// What it does say of the callers must be so.
	got = got[len(got)-len(want):]
	return sameFrames(got[1:], want[1:]) && (len(want) > 1 || outer(got[0].Function) == outer(want[0].Function))
}

func TestAgainstAddr2line(t *testing.T) {
	gcc, gxx, llvm := "gcc", "g++", clang(t)
	for _, c := range []struct {
		compiler string
		flags    string
	}{
		{gcc, "-O0"}, {gcc, "-O2"}, {gcc, "-O3 -gdwarf-4"}, {gcc, "-Os -gdwarf-5"}, {gcc, "-O2 -flto"}, {gcc, "-O2 -gz"},
		{gcc, "-O2 -gz=zlib-gnu"}, {gcc, "-O2 -gdwarf-4 -fdebug-types-section"}, {gcc, "-O2 -ffunction-sections -Wl,--gc-sections"},
		{gcc, "-O2 -no-pie"}, {gcc, "-O1 -gdwarf-3"}, {gcc, "-O2 -g1"}, {gcc, "-O3 -flto -gdwarf-4"}, {gcc, "-O2 -gdwarf64"},
		{llvm, "-O0"}, {llvm, "-O2"}, {llvm, "-O3 -gdwarf-4"}, {llvm, "-Os -gdwarf-5"}, {llvm, "-O2 -g1"}, {llvm, "-O2 -gdwarf-5 -gembed-source"},
	} {
		t.Run(path.Base(c.compiler)+" "+c.flags, func(t *testing.T) {
			compare(t, buildC(t, need(t, c.compiler), strings.Fields(c.flags)...), 1)
		})
	}
	for _, c := range []struct {
		compiler string
		flags    string
	}{
		{gxx, "-O0"}, {gxx, "-O2"}, {gxx, "-O3 -gdwarf-4"}, {gxx, "-O2 -flto"}, {gxx, "-O2 -gdwarf-4 -fdebug-types-section"}, {gxx, "-O2 -gdwarf-5 -fdebug-types-section"},
		{llvm, "-O0"}, {llvm, "-O2 -gdwarf-4"}, {llvm, "-O3"},
	} {
		t.Run(path.Base(c.compiler)+" C++ "+c.flags, func(t *testing.T) {
			compare(t, buildCC(t, need(t, c.compiler), strings.Fields(c.flags)...), 3)
		})
	}
}
