package caches

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

const where = 0x20000000000 // where the state lies in the driver

// drive runs the simulator over accesses, each with a number of its own, and
// returns what each was counted as, and the state as it was left.
func drive(t *testing.T, driver string, simulator []byte, l Layout, ops, cores int, trace []access) (got []string, h *Hierarchy) {
	t.Helper()
	m := l.machine
	dir := t.TempDir()
	code, state, fronts := filepath.Join(dir, "code"), filepath.Join(dir, "state"), filepath.Join(dir, "fronts")
	front := shared(t, fronts, uint64(cores)*uint64(m.L1.Size)/uint64(m.L1.Ways))
	if err := os.WriteFile(code, simulator, 0o600); err != nil {
		t.Fatal(err)
	}
	h = New(l, shared(t, state, l.Size()), where)
	alone := 0 // accesses that core 0 makes before there are others
	for alone < len(trace) && trace[alone].core == 0 {
		alone++
	}
	got = make([]string, ops)
	run(t, got, 0, trace[:alone], driver, code, state, fmt.Sprint(where), fmt.Sprint(ops), fmt.Sprint(cores), fmt.Sprint(m.L1.Size/int64(m.L1.Ways)), fronts)
	h.Many(front)
	run(t, got, alone, trace[alone:], driver, code, state, fmt.Sprint(where), fmt.Sprint(ops), fmt.Sprint(cores), fmt.Sprint(m.L1.Size/int64(m.L1.Ways)), fronts)
	return got, h
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs the driver over a part of a trace, from a number on.
func run(t *testing.T, got []string, first int, trace []access, driver string, args ...string) {
	t.Helper()
	var in bytes.Buffer
	for i, a := range trace {
		var b [24]byte
		binary.LittleEndian.PutUint64(b[:], a.addr)
		binary.LittleEndian.PutUint32(b[8:], uint32(first+i))
		b[12], b[14], b[15] = byte(a.core), byte(a.size), byte(a.called)
		if a.write {
			b[13] = 1
		}
		in.Write(b[:])
	}
	cmd := exec.Command(driver, args...)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var core, op, class, n int
		if line == "" {
			continue
		}
		if _, err := fmt.Sscan(line, &core, &op, &class, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		got[op] += fmt.Sprintf(" core %d %v ×%d", core, cachesim.Class(class), n)
	}
}

// shared is a file's memory; little of it is ever touched.
func shared(t *testing.T, path string, size uint64) []byte {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	mem, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	return mem
}

type access struct {
	core, size int
	addr       uint64
	write      bool
	called     int // see testdata/drive.c
}

// randomTrace touches few lines often, and some once.
func randomTrace(r *rand.Rand, cores, n int) []access {
	list := make([]access, n)
	span, strided := []int64{512, 4 << 10, 64 << 10}[r.IntN(3)], r.IntN(2) == 0
	base := uint64(r.Int64N(1<<40)) &^ 63
	for i := range list {
		a := access{core: r.IntN(cores), size: []int{1, 2, 4, 8, 8, 16, 32, 64, 200}[r.IntN(9)], write: r.IntN(3) == 0}
		a.addr = base + uint64(r.Int64N(span))
		if r.IntN(8) == 0 || strided && r.IntN(2) == 0 {
			a.addr = base + uint64(r.Int64N(span/64)*64)*1024
		}
		if i < n/8 {
			a.core = 0
		}
		if i > 0 && i%3 == 0 {
			a.called = 1
		}
		list[i] = a
	}
	return list
}

func randomMachine(r *rand.Rand) cachesim.Machine {
	g := func(sets, ways, line int) cachesim.Geometry {
		s, w := 1<<r.IntN(sets), 1+r.IntN(ways)
		return cachesim.Geometry{Size: int64(s * w * line), Ways: w}
	}
	m := cachesim.Machine{Name: "random", Line: 16 << r.IntN(3), Latency: cachesim.DefaultLatency}
	few, some, many := 5, 8, 9
	if r.IntN(4) == 0 {
		few, some, many = 20, 24, 40
	}
	m.L1 = g(5, few, m.Line)
	if r.IntN(3) > 0 {
		m.L2 = g(6, some, m.Line)
	}
	if r.IntN(4) > 0 {
		m.L3 = g(7, many, m.Line)
	}
	if r.IntN(2) > 0 { // as most are: with sets enough for lists
		m.Line = 64
		if m.L1 = g(6, few, m.Line); r.IntN(2) > 0 {
			m.L1 = cachesim.Geometry{Size: m.L1.Size / int64(m.L1.Ways) * 8, Ways: 8}
		}
		if m.L2.Size > 0 {
			m.L2 = cachesim.Geometry{Size: int64(512<<r.IntN(2)) * int64(m.Line)}
			m.L2.Ways = 1 + r.IntN(18)
			m.L2.Size *= int64(m.L2.Ways)
		}
		if m.L3.Size > 0 {
			m.L3 = cachesim.Geometry{Size: int64(512<<r.IntN(3)) * int64(m.Line)}
			m.L3.Ways = 1 + r.IntN(18)
			m.L3.Size *= int64(m.L3.Ways)
		}
	}
	return m
}

// compile is what the source makes by the compiler that is here, which need not be
// the one that made what is embedded.
func compile(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("caches.go")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(text), "//go:generate sh -c \"")
	line, _, _ = strings.Cut(line, "\"\n")
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "target"), os.DirFS("target")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	code, err := os.ReadFile(filepath.Join(dir, "target", "hierarchy.bin"))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// TestAgainstOracle: every access of random traces, on random machines, is what
// package cachesim says that it is.
func TestAgainstOracle(t *testing.T) {
	driver := filepath.Join(t.TempDir(), "drive")
	if out, err := exec.Command("gcc", "-O1", "-o", driver, "testdata/drive.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fresh := compile(t)
	for seed := range uint64(100) {
		embedded := Code
		if seed%4 == 0 {
			embedded = fresh
		}
		r := rand.New(rand.NewPCG(seed, 13))
		m, cores := randomMachine(r), max(1, r.IntN(9)-2)
		compare(t, fmt.Sprintf("seed %d", seed), driver, embedded, m, Sample{}, cores, randomTrace(r, cores, 2000))
	}
}

// TestSampleAgainstOracle: where some sets are simulated, what is in them is as if all were.
func TestSampleAgainstOracle(t *testing.T) {
	driver := filepath.Join(t.TempDir(), "drive")
	if out, err := exec.Command("gcc", "-O1", "-o", driver, "testdata/drive.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sampled := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 14))
		m, cores := randomMachine(r), max(1, r.IntN(9)-2)
		sample, err := NewSample(m, 2<<r.IntN(3))
		if err != nil {
			continue
		}
		sampled++
		all, trace := randomTrace(r, cores, 4000), []access(nil)
		for _, a := range all { // moved code asks for the line of the last byte
			if sample.Lines>>((a.addr+uint64(a.size)-1)/uint64(m.Line)%64)&1 != 0 {
				trace = append(trace, a)
			}
		}
		trace[0].called = 0 // there is no call before the first number
		compare(t, fmt.Sprintf("seed %d", seed), driver, Code, m, sample, cores, trace)
	}
	if sampled < 10 {
		t.Errorf("%d of 60 machines have sets enough", sampled)
	}
}

// compare compares a trace with what the oracle makes of it.
func compare(t *testing.T, name, driver string, simulator []byte, m cachesim.Machine, sample Sample, cores int, trace []access) {
	t.Helper()
	l, err := NewLayout(m, sample, len(trace))
	if err != nil {
		t.Fatal(err)
	}
	got, h := drive(t, driver, simulator, l, len(trace), cores, trace)
	s := cachesim.New(m, cores)
	for i, a := range trace {
		if last := a.addr + uint64(a.size) - 1; sample.Of > 1 { // of the last line alone
			a.addr = max(a.addr, last&^uint64(m.Line-1))
			a.size = int(last - a.addr + 1)
		}
		o := s.Access(a.core, a.addr, a.size, a.write, uint32(i))
		want := ""
		c, missed := o.Class()
		if missed {
			want += fmt.Sprintf(" core %d %v ×1", a.core, c)
		}
		if o.Upgrade {
			want += fmt.Sprintf(" core %d upgrade ×1", a.core)
		}
		if got[i] != want {
			t.Fatalf("%s, %+v: access %d %+v: got%s, want%s", name, m, i, a, got[i], want)
		}
		by, writers, ok := h.Partner(i)
		if wanted := o.Kind >= cachesim.True && o.Level != cachesim.Hit; ok != wanted ||
			ok && (by != int(o.Partner.Op) || writers != 1<<o.Partner.Core) {
			t.Fatalf("%s, access %d: partner %d of %b (%v), want %+v", name, i, by, writers, ok, o)
		}
		for level := range 3 {
			if doubt := h.Doubt(i, level); (doubt > 0) != (sample.Of > 1 && missed && int(c)/cachesim.Kinds == level) {
				t.Fatalf("%s, access %d, %v: level %d is doubted by %v", name, i, c, level, doubt)
			}
		}
	}
	if x := h.Trouble(); x != "" || h.LeftOut() != 0 {
		t.Errorf("%s: %s, %d left out", name, x, h.LeftOut())
	}
}
