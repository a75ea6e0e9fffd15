package probe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestRecorderIsItsSource assembles recorder.S again.
func TestRecorderIsItsSource(t *testing.T) {
	proctest.Need(t, "as", "objcopy")
	dir := t.TempDir()
	o, bin := filepath.Join(dir, "r.o"), filepath.Join(dir, "r.bin")
	for _, c := range [][]string{{"as", "-o", o, "recorder.S"}, {"objcopy", "-O", "binary", "-j", ".text", o, bin}} {
		if msg, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", c, msg)
		}
	}
	b, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, recorderCode) {
		t.Error("recorder.bin is not recorder.S assembled: go generate")
	}
}

// TestOffsetsAgree compares recorder.S's offsets with layout.go's.
func TestOffsetsAgree(t *testing.T) {
	src, err := os.ReadFile("recorder.S")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"MUTED": offMuted, "RING": offRing, "LIMIT": offLimit, "BUSY": offBusy, "LASTTSC": offLastTSC, "CPUGAP": offCPUGap,
		"COUNTERS": offCounters, "SHADOW": offShadow, "NFIXED": offNFixed, "NOVER": offNOver, "OVERCAP": offOverCap, "OVER": offOver,
		"TARGETS": offTargets, "SITECTR": offSiteCtr, "HASH": offHash, "HASHMASK": offHashMask, "KEYS": offKeys, "LOST": offLost, "WAITS": offWaits}
	found := 0
	for _, m := range regexp.MustCompile(`\.set (\w+),\s*(0x[0-9a-f]+)`).FindAllStringSubmatch(string(src), -1) {
		v, _ := strconv.ParseInt(m[2], 0, 64)
		if w, ok := want[m[1]]; !ok || w != v {
			t.Errorf("%s is %#x in recorder.S, %#x in layout.go", m[1], v, w)
		}
		found++
	}
	if found != len(want) {
		t.Errorf("%d offsets in recorder.S, %d in layout.go", found, len(want))
	}
	if recorderCode[recordEnd] != 0xc3 || recorderCode[recordEnd+1] != 0xcc || !bytes.HasPrefix(recorderCode[recordBody:], []byte{0x65, 0x48, 0x83, 0x3c, 0x25}) {
		t.Error("record does not begin at recordBody (a comparison with MUTED), or does not end at recordEnd (ret, and behind it int3)")
	}
	for off, what := range map[int]string{recordEntry: "record", indirectEntry: "indirect"} {
		in, err := x86.Decode(recorderCode[off:], uint64(off))
		if err != nil || in.Kind != x86.Jmp {
			t.Errorf("no jump to %s at %d of the recorder", what, off)
		}
	}
}

// catches is what a test's programs may be caught in.
func catches(name string) bool { return name == "pthread_barrier_wait" || name == "pthread_exit" }

func noHooks(string) (record.Hook, bool) { return record.Hook{}, false }

// programs are whatever executables a Debian machine has.
func programs(t *testing.T) []string {
	var all []string
	for _, p := range []string{"/bin/bash", "/usr/bin/perl", "/usr/bin/make", "/usr/bin/tar"} {
		if _, err := os.Stat(p); err == nil {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		t.Fatal("not one of the usual programs is here")
	}
	return all
}

// TestSolveRandomWalks walks at random through the graphs of real programs,
// counts what a walk passes, gives the solver only what has a counter, and
// compares. Walks stop in the middle at calls that may hold the thread.
func TestSolveRandomWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, path := range programs(t) {
		im, err := image.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s := New(cfg.Build(im, catches), noHooks, Options{}, Numbers{})
		walked, exact, unknown := 0, 0, 0
		if _, err := s.Assemble(s.Home()); err != nil {
			t.Fatal(err)
		}
		for _, q := range s.moved {
			w := newFlow(s.Program.Graph(q.f, nil), q.marks, nil)
			w.place(q.first, s.opt, nil)
			w.derive()
			truth := make([]int64, len(w.edges))
			for n := 0; n < 3; n++ {
				walk(r, w, truth)
			}
			val := make([]int64, len(w.edges))
			for i := range w.edges {
				if w.edges[i].counter >= 0 {
					val[i] = truth[i]
				}
			}
			solve(w.steps, val, nil)
			for i := range w.edges {
				switch {
				case w.edges[i].unknown:
					unknown++
				case val[i] != truth[i]:
					t.Fatalf("%s: %s: edge %s is %d, solved as %d", path, q.f.Name, describe(&w.edges[i]), truth[i], val[i])
				default:
					exact++
				}
			}
			walked++
		}
		t.Logf("%s: %d functions, %d edges exact, %d unknown", path, walked, exact, unknown)
		if unknown*100 > exact {
			t.Errorf("%s: %d of %d edges are unknown", path, unknown, exact+unknown)
		}
	}
}

func describe(e *flowEdge) string { return fmt.Sprintf("%d→%d", e.from, e.to) }

// walk takes one random way from START to the end of a function.
func walk(r *rand.Rand, w *flow, count []int64) {
	starts := []*cfg.Edge{}
	for _, e := range w.g.Edges {
		if e.From == nil {
			starts = append(starts, e)
		}
	}
	e := starts[r.IntN(len(starts))]
	for n := 0; ; n++ {
		if i := w.byCfg[e.ID]; i >= 0 {
			count[i]++
		} else {
			count[w.hubIn[e.From.ID]]++
			count[w.hubTo[e.To.ID]]++
		}
		b := e.To
		if b == nil {
			return
		}
		count[w.self[b.ID]]++
		e = b.Succ[r.IntN(len(b.Succ))]
		if n > 2000 { // find a way out
			seen := map[*cfg.Block]*cfg.Edge{b: nil}
			queue := []*cfg.Block{b}
			var last *cfg.Edge
			for len(queue) > 0 && last == nil {
				x := queue[0]
				queue = queue[1:]
				for _, y := range x.Succ {
					if y.To == nil {
						last = y
						break
					}
					if _, ok := seen[y.To]; !ok {
						seen[y.To] = y
						queue = append(queue, y.To)
					}
				}
			}
			if last == nil { // an endless loop: take the walk back
				for i := range count {
					count[i] = 0
				}
				return
			}
			var way []*cfg.Edge
			for e := last; e != nil; e = seen[e.From] {
				way = append(way, e)
			}
			for i := len(way) - 1; i > 0; i-- {
				e := way[i]
				if j := w.byCfg[e.ID]; j >= 0 {
					count[j]++
				} else {
					count[w.hubIn[e.From.ID]]++
					count[w.hubTo[e.To.ID]]++
				}
				count[w.self[e.To.ID]]++
			}
			e = way[0]
		}
	}
}

// TestEmittedCodeDecodes reads back what was emitted for a whole program:
// every byte of the copy belongs to an instruction that the decoder knows.
func TestEmittedCodeDecodes(t *testing.T) {
	for _, path := range programs(t) {
		im, err := image.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s := New(cfg.Build(im, catches), noHooks, Options{}, Numbers{})
		base := s.Home()
		c, err := s.Assemble(base)
		if err != nil {
			t.Fatal(err)
		}
		if uint64(len(c.Bytes)) > s.CodeSize() {
			t.Errorf("%s: %d bytes, planned %d", path, len(c.Bytes), s.CodeSize())
		}
		n := 0
		for a := len(recorderCode); a < len(c.Bytes); {
			in, err := x86.Decode(c.Bytes[a:min(a+15, len(c.Bytes))], base+uint64(a))
			if err != nil {
				t.Fatalf("%s: copy at +%#x: % x: %v", path, a, c.Bytes[a:min(a+15, len(c.Bytes))], err)
			}
			a += in.Len()
			n++
		}
		t.Logf("%s: %d instructions, %d bytes", path, n, len(c.Bytes))
	}
}

// TestCrowdedCode plans with short jumps that reach next to nothing, so that
// most landings have to do without, and again and again something is planned
// anew: no two patches may overlap, and most functions still move.
func TestCrowdedCode(t *testing.T) {
	for _, path := range append(programs(t), "/usr/lib/x86_64-linux-gnu/libstdc++.so.6") { // full of landing pads
		im, err := image.OpenLibrary(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, reach := range []int64{4, 24, 122} {
			p := cfg.Build(im, catches)
			s := New(p, noHooks, Options{reach: reach}, Numbers{})
			if _, err := s.Assemble(s.Home()); err != nil {
				t.Errorf("%s, reach %d: %v", path, reach, err)
			}
			moved, total, _, _ := p.Summary()
			if moved*100 < total*90 {
				t.Errorf("%s, reach %d: %d of %d functions moved", path, reach, moved, total)
			}
		}
	}
}

// TestOriginInvertsTheCopy: the beginning of every copied instruction leads
// back to the original.
func TestOriginInvertsTheCopy(t *testing.T) {
	im, err := image.Open(programs(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	s := New(cfg.Build(im, catches), noHooks, Options{}, Numbers{})
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for n := 0; n < 300; n++ {
		i := r.IntN(len(s.moved))
		at := map[uint64]uint64{}
		s.replay(c, i, func(addr uint64, start, _ int) { at[uint64(start)] = addr })
		for off, addr := range at {
			if got, after, ok := s.Origin(c, off); !ok || after || got != addr {
				t.Fatalf("+%#x is %#x, Origin says %#x %v %v", off, addr, got, after, ok)
			}
		}
	}
}
