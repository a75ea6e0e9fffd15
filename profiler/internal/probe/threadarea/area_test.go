package threadarea

import (
	"encoding/binary"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

const userSite = 0x1234567 // what a hook's caller would come back to

// process is an area in a process that runs the recorder, with code that calls
// it, as copies do.
type process struct {
	*asm.Assembler
	l    Layout
	mem  []byte
	area *Area
	top  int // of the stack
	out  probetest.State
}

func newProcess(cpuGap uint64) *process {
	return newProcessOf(NewLayout([]Function{{Chords: 5, Sites: 3, Always: true}}, 0), cpuGap)
}

func newProcessOf(l Layout, cpuGap uint64) *process {
	p := &process{Assembler: asm.New(probetest.CodeAt), l: l}
	p.mem = make([]byte, 2*l.Size()+4*4096) // the area, what is common, a stack
	p.top = len(p.mem) - 64
	common := NewCommon(l, p.mem[l.Size():], probetest.MemoryAt+l.Size())
	p.area = New(common, p.mem, probetest.MemoryAt, cpuGap, 1<<62, 0)
	p.Raw(Recorder...)
	return p
}

func (p *process) record(kind uint32) {
	p.MovImm32(x86.R11, kind)
	p.CallTo(probetest.CodeAt + RecordEntry)
}

// call counts an indirect call whose target has no inline counter.
func (p *process) call(site, target uint32) {
	p.MovImm32(x86.R11, target)
	p.MovImm32(x86.RAX, 2*site)
	p.CallTo(probetest.CodeAt + IndirectEntry)
}

func (p *process) run(t testing.TB) syscall.Signal {
	t.Helper()
	if p.Err() != nil {
		t.Fatal(p.Err())
	}
	in := probetest.State{Memory: p.mem}
	for r := range in.Regs {
		in.Regs[r] = 0x1111 * uint64(r+1)
	}
	top := p.top
	in.Regs[x86.RSP] = probetest.MemoryAt + uint64(top)
	put := &Area{mem: p.mem}
	put.put(uint64(top), userSite)
	out, sig := probetest.Run(t, p.Bytes(), len(Recorder), in)
	if sig == 0 {
		for r := range out.Regs {
			if out.Regs[r] != in.Regs[r] && x86.Reg(r) != x86.R11 && x86.Reg(r) != x86.RAX {
				t.Errorf("the recorder changes register %d", r)
			}
		}
	}
	if sig == 0 {
		p.area.mem, p.area.common.mem = out.Memory, out.Memory[p.l.Size():]
	}
	p.out = out
	return sig
}

// records takes what was recorded, without what no test can know.
func (p *process) records() (list []record.Record) {
	p.area.Records(func(r record.Record) {
		r.TSC, r.CPUNS = min(r.TSC, 1), min(r.CPUNS, 1)
		list = append(list, r)
	})
	return list
}

func (p *process) increment(counter int32, times int) {
	for range times {
		p.IncGS(CounterOffset(counter))
	}
}

// TestRecorderRecords runs the recorder and reads what it has written.
func TestRecorderRecords(t *testing.T) {
	p := newProcess(1 << 63)
	p.increment(2, 3)
	p.increment(4, 1)
	p.record(7 | ScanBit)
	p.increment(2, 2)
	p.record(9)
	p.record(8 | ScanBit)
	p.increment(0, 5)
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	at := record.Record{TSC: 1, Site: userSite, Arg1: 0x1111 * 8, Arg3: 0x1111 * 3}
	want := []record.Record{at, at, at}
	want[0].Kind, want[0].Delta = 7, []record.Delta{{Counter: 2, N: 3}, {Counter: 4, N: 1}}
	want[1].Kind, want[1].Delta = 9, []record.Delta{}
	want[2].Kind, want[2].Delta = 8, []record.Delta{{Counter: 2, N: 2}}
	want[0].Whole, want[2].Whole = true, true
	if got := p.records(); !reflect.DeepEqual(got, want) {
		t.Errorf("recorded %+v, want %+v", got, want)
	}
	if again := p.records(); again != nil {
		t.Errorf("recorded again: %+v", again)
	}
	all, rest, _ := p.area.Ends(new([]record.Delta))
	if !reflect.DeepEqual(rest, []record.Delta{{Counter: 0, N: 5}}) {
		t.Errorf("the rest is %v", rest)
	}
	if d := p.area.All(); !reflect.DeepEqual(d, []record.Delta{{Counter: 0, N: 5}, {Counter: 2, N: 5}, {Counter: 4, N: 1}}) || !reflect.DeepEqual(all, d) {
		t.Errorf("all is %v, and %v at the end", d, all)
	}
	if p.area.Busy() {
		t.Error("nothing is being written")
	}
	p.area.Reset()
	if got := p.area.get(offRing); got != probetest.MemoryAt+p.l.ring {
		t.Errorf("the empty ring is at %#x", got)
	}
}

// TestQuiet: a record says that what blocks inside its call is not to be recorded, the
// next one that it is; and if something has blocked, that one reads the CPU clock,
// unless that is not to be read, and the time behind it.
func TestQuiet(t *testing.T) {
	for _, c := range []struct {
		gap     uint64
		blocked bool
		want    int64
	}{{1 << 61, false, 0}, {1 << 61, true, 1}, {Never, true, 0}} {
		p := newProcess(c.gap)
		p.record(1 | QuietBit)
		if c.blocked {
			p.MovGS32(OffQuiet, 0x1001) // as timer.S does
		}
		p.record(2)
		if sig := p.run(t); sig != 0 {
			t.Fatal(sig)
		}
		if r := p.records(); len(r) != 2 || r[0].Kind != 1 || r[0].CPUNS != 0 || r[1].CPUNS != c.want {
			t.Errorf("gap %#x, blocked %v: recorded %+v", c.gap, c.blocked, r)
		}
		if at := p.area.get(p.l.ring + recordHeader + 8); at > p.area.get(offLastTSC) != (c.want > 0) {
			t.Errorf("gap %#x, blocked %v: the time is from before the clock was read, or not", c.gap, c.blocked)
		}
		if below := p.area.get(OffQuiet) & math.MaxUint32; below != 0 {
			t.Errorf("still quiet, below %#x", below)
		}
	}
	p := newProcess(1 << 61)
	p.record(1 | QuietBit)
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	sp, below := uint32(p.out.Regs[x86.RSP]), uint32(p.area.get(OffQuiet))
	if below >= sp || sp-below > 128 {
		t.Errorf("quiet below %#x, the call is made at %#x", below, sp)
	}
}

// TestCPUClock is read where the last record is long ago.
func TestCPUClock(t *testing.T) {
	p := newProcess(0)
	p.record(1)
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	if r := p.records(); len(r) != 1 || r[0].CPUNS != 1 {
		t.Errorf("recorded %+v", r)
	}
}

// TestWakeWithoutWaiter: a wake matters only where somebody has waited since
// the last one.
func TestWakeWithoutWaiter(t *testing.T) {
	p := newProcess(1 << 63)
	p.record(1 | WakeBit)
	p.record(2 | WaitBit)
	p.record(3 | WakeBit)
	p.record(4 | WakeBit)
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	var kinds []uint32
	for _, r := range p.records() {
		kinds = append(kinds, r.Kind)
	}
	if !reflect.DeepEqual(kinds, []uint32{2, 3}) {
		t.Errorf("recorded kinds %v, want the wait and one wake", kinds)
	}
}

// TestHush: of a wait that is hushed nothing is recorded, nor of who wakes only that; of
// others, and where two share a place of the first, all is.
func TestHush(t *testing.T) {
	for _, c := range []struct {
		hush []uint64
		want []uint32
	}{{nil, []uint32{2, 3, 5}}, {[]uint64{userSite}, []uint32{5}}, {[]uint64{userSite + 1}, []uint32{2, 3, 5}},
		{[]uint64{userSite + hushes, userSite}, []uint32{2, 3, 5}}, {[]uint64{userSite, userSite + hushes}, []uint32{5}}} {
		p := newProcess(1 << 63)
		for _, ret := range c.hush {
			p.area.common.Hush(ret)
		}
		p.record(2 | WaitBit)
		p.record(3 | WakeBit)
		p.record(4 | WakeBit)
		p.record(5)
		if sig := p.run(t); sig != 0 {
			t.Fatal(sig)
		}
		var kinds []uint32
		for _, r := range p.records() {
			kinds = append(kinds, r.Kind)
		}
		if !reflect.DeepEqual(kinds, c.want) {
			t.Errorf("with %#x hushed recorded kinds %v, want %v", c.hush, kinds, c.want)
		}
	}
}

// TestPieces of the stack: up to where it began, if that is near, else to the end
// of the page, or as far as a piece goes where the next one can be read.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name       string
		below, top int // of the stack pointer, from the end of the memory; of the stack's beginning, 0: not known
		deep       uint32
		want       int
		goroutine  uint64 // as the runtime has it; 0: it is a thread
	}{
		{"near its beginning", 64 + 8*10, 64, 0, 8 * 9, 0},
		{"deep", 4000, 64, 0, 8 * 128, 0},
		{"of another stack", 3000, 0, 0, 8 * 128, 0},
		{"at the end of a page", 800, 0, 0, 800 - 8, 0},
		{"across pages", 4096 + 800, 0, 0, 8 * 128, 0},
		{"at the very end", 8, 0, 0, 0, 0},
		{"near its beginning, more of it", 64 + 8*200, 64, DeepBit, 8 * 199, 0},
		{"across pages, more of it", 2*4096 + 800, 0, DeepBit, 8 * 1024, 0},
		{"at the end of a page, more of it", 800, 0, DeepBit, 800 - 8, 0},
		{"of a goroutine", 4000, 64, 0, 4000 - 64 - 8, 0x1234},
		{"of a goroutine, on another stack", 3000, 0, 0, 8 * 128, 0x1234},
		{"of a goroutine, on another stack that ends", 800, 0, 0, 800 - 8, 0x1234},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProcess(0)
			p.top = len(p.mem) - c.below
			if c.top != 0 {
				p.area.SetTop(probetest.MemoryAt + uint64(len(p.mem)-c.top))
			}
			p.area.put(offRuntime, c.goroutine)
			for at := p.top; at < len(p.mem); at += 8 {
				p.area.put(uint64(at), 7*uint64(at))
			}
			p.increment(2, 3)
			p.record(7 | ScanBit | ChainBit | LibraryBit | c.deep)
			p.record(8 | ScanBit | WaitBit)
			if sig := p.run(t); sig != 0 {
				t.Fatal(sig)
			}
			n := 0
			p.area.Records(func(r record.Record) {
				if n++; n == 2 {
					if r.Stack != nil || r.Library || r.Kind != 8 {
						t.Errorf("the next one is %+v", r)
					}
					return
				}
				s := r.Stack
				want := [6]uint64{}
				for i, x := range []x86.Reg{x86.RBX, x86.RBP, x86.R12, x86.R13, x86.R14, x86.R15} {
					want[i] = 0x1111 * uint64(x+1)
				}
				if r.Kind != 7 || r.Site != userSite || !r.Library || !reflect.DeepEqual(r.Delta, []record.Delta{{Counter: 2, N: 3}}) ||
					s.SP != probetest.MemoryAt+uint64(p.top)+8 || s.Saved != want || len(s.Words) != c.want {
					t.Fatalf("recorded %+v, stack %#x %#x %d bytes, want %d", r, s.SP, s.Saved, len(s.Words), c.want)
				}
				for i := 0; i < c.want; i += 8 {
					if got := binary.LittleEndian.Uint64(s.Words[i:]); got != 7*uint64(p.top+8+i) {
						t.Fatalf("word %d is %#x", i/8, got)
					}
				}
			})
			if n != 2 {
				t.Errorf("%d records", n)
			}
		})
	}
}

// TestEntered: only counters are looked at that lie in one eight with those of
// functions that were entered, by any thread of the process, in order.
func TestEntered(t *testing.T) {
	const n = 90
	var funcs []Function
	for i := range int32(n) {
		funcs = append(funcs, Function{Chords: 16 * (i + 1), Sites: 4 * i, Always: i == 19})
	}
	p := newProcessOf(NewLayout(funcs, 0), 1<<63)
	chord := func(f int32) int32 { return 16*f + f%16 }
	site := func(f int32) int32 { return 16*n + 8*(f-1) + f%8 } // of all but the first
	counts := func(functions ...int32) (d []record.Delta) {
		for _, f := range functions {
			d = append(d, record.Delta{Counter: chord(f), N: uint64(1 + f)})
			if f > 0 {
				d = append(d, record.Delta{Counter: site(f), N: 2})
			}
		}
		slices.SortFunc(d, func(a, b record.Delta) int { return int(a.Counter - b.Counter) })
		return d
	}
	for f := range int32(n) {
		p.increment(chord(f), 1+int(f))
		if f > 0 {
			p.increment(site(f), 2)
		}
	}
	entered := [][]int32{{0, 7}, {89, 8, 33}, {16}}
	for k, fs := range entered {
		for _, f := range fs {
			p.PushImm32(f)
			p.CallTo(probetest.CodeAt + EnterEntry)
		}
		p.record(uint32(k+1) | ScanBit)
	}
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	want := [][]record.Delta{counts(0, 7, 19), counts(89, 8, 33), counts(16)}
	for k, r := range p.records() {
		if !reflect.DeepEqual(r.Delta, want[k]) {
			t.Errorf("record %d has %v, not %v", k, r.Delta, want[k])
		}
	}
	all := slices.Concat(entered...)
	for f := range int32(n) {
		if got := p.out.Memory[p.l.entered+uint64(f)]; (got != 0) != slices.Contains(all, f) {
			t.Errorf("function %d was entered: %d", f, got)
		}
	}
	if d, rest, _ := p.area.Ends(new([]record.Delta)); !reflect.DeepEqual(d, counts(append(all, 19)...)) || len(rest) > 0 {
		t.Errorf("all is %v, the rest %v", d, rest)
	}
	goroutine := NewGoroutine(p.area.common, make([]byte, p.l.Size()), 0, 0, 0, 0)
	if got, want := goroutine.words(p.l.live, p.l.liveWords()), newProcessOf(p.l, 1<<63).area.common.words(p.l.live, p.l.liveWords()); !slices.Equal(got, want) {
		t.Errorf("a goroutine looks at what others have entered: %x, not %x", got, want)
	}
}

// TestTargets: two targets of a site are counted in line, others in the hash;
// where that is full, calls are lost.
func TestTargets(t *testing.T) {
	p := newProcess(1 << 63)
	want := map[[2]int]uint64{}
	for n, target := range []uint32{0x1000, 0x2000, 0x3000, 0x4000} {
		for site := range uint32(3) {
			times := 1 // a target that has its inline counter does not come here again
			if n >= 2 {
				times = n + int(site)
			}
			for range times {
				p.call(site, target)
			}
			want[[2]int{int(site), int(target)}] = uint64(times)
		}
	}
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	got := map[[2]int]uint64{}
	for _, d := range p.area.All() {
		site, target := p.area.Target(d.Counter)
		got[[2]int{site, int(target)}] += d.N
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	if n := p.area.Lost(); n != 0 {
		t.Errorf("%d calls are lost", n)
	}
	p.mem = p.out.Memory
	p.area.put(offNOver, overCap)
	p.Assembler = asm.New(probetest.CodeAt)
	p.Raw(Recorder...)
	p.call(0, 0x5000)
	if sig := p.run(t); sig != 0 || p.area.Lost() != 1 {
		t.Errorf("%d calls are lost of one, %v", p.area.Lost(), sig)
	}
}

// TestFullRing stops the thread, at the place that IsFull knows.
func TestFullRing(t *testing.T) {
	p := newProcess(1 << 63)
	p.area.put(OffLimit, 0)
	p.record(1)
	if sig := p.run(t); sig != syscall.SIGTRAP {
		t.Errorf("a full ring ends by %v", sig)
	}
	for at := range uint64(len(Recorder)) + 10 {
		if IsFull(at) != (at == RecordEnd+2) {
			t.Errorf("a stop at %#x says that the ring is full: %v", at, IsFull(at))
		}
	}
}

// TestSinkSwallows: a forked child records nothing.
func TestSinkSwallows(t *testing.T) {
	p := newProcess(0)
	NewCommon(p.l, p.mem, probetest.MemoryAt)
	p.record(1 | ScanBit)
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	if r := p.records(); r != nil {
		t.Errorf("recorded %+v", r)
	}
}

// TestLayoutHoldsEverything: no two parts overlap, and any record fits behind
// the limit.
func TestLayoutHoldsEverything(t *testing.T) {
	for _, n := range [][2]int{{0, 0}, {1, 1}, {1000, 77}, {300000, 9000}} {
		l := NewLayout([]Function{{Chords: int32(n[0] / 2)}, {Chords: int32(n[0]), Sites: int32(n[1])}}, 0)
		if l.Fixed() != n[0]+2*n[1] {
			t.Errorf("%v: %d counters", n, l.Fixed())
		}
		counters := uint64(l.Fixed()+overCap) * 8
		ends := []uint64{headerSize, l.counters + counters, l.shadow + counters, l.targets + uint64(siteSize*n[1]), l.hash + hashStep*(hashSize+hashWindow), l.keys + 16*overCap, l.entered + 2, l.gates + maxGates*gateSize, l.ring + 4*l.recordMax(), l.live + uint64(l.Fixed())/64, l.size}
		for i, begin := range []uint64{l.counters, l.shadow, l.targets, l.hash, l.keys, l.entered, l.gates, l.ring, l.live, l.ranges} {
			if begin < ends[i] || begin%8 != 0 {
				t.Errorf("%v: part %d begins at %#x, what is before ends at %#x", n, i, begin, ends[i])
			}
		}
		if l.Size()%4096 != 0 || l.Waits()%4096 != 0 || l.live-l.ring < 2*l.recordMax() {
			t.Errorf("%v: %d bytes, the ring at %d", n, l.Size(), l.ring)
		}
		if CounterOffset(0) != uint32(l.counters) || l.TargetOffset() != uint32(l.targets) {
			t.Errorf("%v: counters at %d, targets at %d", n, CounterOffset(0), l.TargetOffset())
		}
	}
}

// TestHeaderFieldsApart: no two fields of an area's header lie at one place, and what
// guard.S keeps there for itself is at most look.S's, which is not there then.
func TestHeaderFieldsApart(t *testing.T) {
	src, err := os.ReadFile("layout.go")
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t([oO]ff\w+)\s*= (0x\w+)`).FindAllStringSubmatch(string(src), -1) {
		if other := at[m[2]]; other != "" {
			t.Errorf("%s and %s are both at %s", other, m[1], m[2])
		}
		at[m[2]] = m[1]
	}
	if len(at) < 40 {
		t.Errorf("only %d fields", len(at))
	}
	src, err = os.ReadFile("../blocking/guard.S")
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for _, m := range regexp.MustCompile(`(?m)^\t\.set (\w+),\s*(0x\w+)`).FindAllStringSubmatch(string(src), -1) {
		v, _ := strconv.ParseUint(m[2], 0, 64)
		if v < 0x1000 && v >= offWorths {
			t.Errorf("%s of guard.S is at %s, where moved code looks", m[1], m[2])
		}
		if v >= OffFuel && v < offWorths {
			own++
		}
	}
	if own == 0 {
		t.Error("guard.S keeps nothing")
	}
}
