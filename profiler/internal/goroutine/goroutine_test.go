package goroutine

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/dwarfmap"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// program builds one in Go.
func program(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module prog\n\ngo 1.22\n", "main.go": "package main\n\nfunc main() {\n\tc := make(chan int)\n\tgo close(c)\n\t<-c\n}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("go", append(append([]string{"build", "-o", "prog"}, flags...), ".")...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Join(dir, "prog")
}

// layout is that of a program.
func layout(t *testing.T, path string) (Layout, error) {
	t.Helper()
	m, err := dwarfmap.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	return ReadLayout(m.Debug())
}

// TestLayout: what the debug information says fits what is known of any runtime.
func TestLayout(t *testing.T) {
	l, err := layout(t, program(t))
	if err != nil {
		t.Fatal(err)
	}
	// A runtime.g begins with its stack's bounds.
	if l.StackLow != 0 || l.StackHigh != 8 || l.PC <= l.SP || l.SP < 16 || l.Panic < 16 {
		t.Errorf("%+v", l)
	}
	if l.Conditions == 0 || l.Sleeps == 0 || l.Polls == 0 || l.Conditions&l.Sleeps|l.Conditions&l.Polls|l.Sleeps&l.Polls != 0 {
		t.Errorf("reasons to wait: %b, %b, %b", l.Conditions, l.Sleeps, l.Polls)
	}
	all := []int64{l.ID, l.Parent, l.Created, l.Start, l.StackLow, l.StackHigh, l.SP, l.PC, l.Panic, l.Reason}
	for _, all := range [][]int64{all, {l.Turn, l.Number}, {l.Current, l.Processor, l.Pending, l.Generation}} {
		slices.Sort(all)
		if n := len(all); len(slices.Compact(all)) != n {
			t.Errorf("two fields lie at one place: %+v", l)
		}
	}
	if l.Unled != 0 {
		t.Error("walks up stacks are inlined")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	l, err = layout(t, program(t, "-pgo="+filepath.Join(strings.TrimSpace(string(root)), "src/cmd/compile/default.pgo")))
	if err != nil || l.Unled != 1 {
		t.Errorf("with a profile, in which the runtime walks up stacks: %v, %d", err, l.Unled)
	}
	if _, err := layout(t, program(t, "-ldflags=-w")); !errors.Is(err, ErrNoDWARF) {
		t.Errorf("without debug information: %v", err)
	}
	d := &dwarf.Data{}
	if _, err := ReadLayout(d, []byte("no program at all")); err == nil {
		t.Error("no program at all")
	}
}

// functions are those of a program that get detours.
func functions(t *testing.T, im *image.Image) (fs Functions) {
	t.Helper()
	get := func(name string) Function {
		for i := range im.Funcs {
			if f := &im.Funcs[i]; f.Name == name {
				return Function{f.Addr, im.Bytes(f.Addr)[:f.Size]}
			}
		}
		t.Fatalf("no %s", name)
		return Function{}
	}
	fs.Resume, fs.End, fs.Recover, fs.Make = get("gogo"), get("runtime.gdestroy"), get("runtime.recovery"), get("runtime.newproc")
	fs.Park, fs.Ready, fs.ParkM = get("runtime.mcall"), get("runtime.ready"), get("runtime.park_m").Addr
	fs.Leave, fs.Receive = []Function{get("runtime.goschedImpl"), get("runtime.preemptPark")}, []Function{get("runtime.chanrecv1")}
	fs.Ask, fs.Calls, fs.Back = []Function{get("runtime.signalM")}, get("runtime.reentersyscall"), get("runtime.exitsyscall")
	fs.Begin, fs.Next = get("runtime.(*unwinder).initAt"), get("runtime.(*unwinder).next")
	fs.Follow, fs.Expand = []Function{get("runtime.fpTracebackPartialExpand")}, []Function{get("runtime.fpunwindExpand")}
	return fs
}

// TestDetours: each jump leads to a call of a routine, then to the instructions that
// it was written over, then behind them; the call is behind those by which the function
// may begin anew.
func TestDetours(t *testing.T) {
	im, err := image.Open(program(t))
	if err != nil {
		t.Fatal(err)
	}
	at := Place{Code: im.Lowest - 1<<20, Table: 1 << 40, Common: 2 << 40, Pool: 3 << 40, Recorder: im.Lowest - 2<<20}
	c, err := Assemble(at, Layout{ID: 160, StackHigh: 8, Current: 184, Processor: 216, Turn: 20, Number: 8, Pending: 300, Generation: 296, PC: 64, StackLow: 4, Reason: 176, Conditions: 1<<19 | 1<<62, Sleeps: 1 << 14, Polls: 1 << 2}, functions(t, im), Kinds{4, 5, 6, 7, 8, 9, 10, 11, 12})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Bytes) > CodeSize || len(c.Jumps) != 16 {
		t.Errorf("%d bytes, %d jumps", len(c.Bytes), len(c.Jumps))
	}
	for i, want := range map[int]uint64{wordTable: at.Table, wordCommon: at.Common, wordPool: at.Pool, wordGoid: 160, wordHigh: 8, wordRecorder: at.Recorder, wordKindMakes: 4, wordKindMake: 5, wordKindReceive: 6, wordKindSend: 7, wordKindFirst: 8,
		wordCurrent: 184, wordProcessor: 216, wordTurn: 20, wordNumber: 8, wordPending: 300, wordGeneration: 296, wordPC: 64, wordLow: 4, wordReason: 176, wordParkM: functions(t, im).ParkM, wordKindWoke: 12} {
		if got := word64(c.Bytes, i); got != want {
			t.Errorf("word %d is %#x, want %#x", i, got, want)
		}
	}
	for i := range reasons {
		want := map[int]uint32{19: 9, 62: 9, 14: 10, 2: 11}[i]
		if got := binary.LittleEndian.Uint32(c.Bytes[8*words+4*i:]); got != want {
			t.Errorf("who waits for reason %d has a record of kind %d, want %d", i, got, want)
		}
	}
	decode := func(addr uint64) x86.Insn {
		in, err := x86.Decode(c.Bytes[addr-at.Code:], addr)
		if err != nil {
			t.Fatalf("%#x: %v", addr, err)
		}
		return in
	}
	for _, j := range c.Jumps {
		in, err := x86.Decode(j.New, j.At)
		if err != nil || in.Kind != x86.Jmp {
			t.Fatalf("no jump at %#x", j.At)
		}
		k, checked := decode(in.Target), false
		for ; k.Kind == x86.Normal || k.Kind == x86.Jcc; k = decode(k.End()) {
			checked = k.Kind == x86.Jcc
		}
		if j.At == functions(t, im).Make.Addr && !checked {
			t.Errorf("%#x: the call is before it is known whether the function begins anew", j.At)
		}
		if k.Kind != x86.Call || k.Target < at.Code || k.Target >= at.Code+uint64(len(switches)) {
			t.Errorf("%#x: no call of a routine", j.At)
		}
		for k = decode(k.End()); k.Kind != x86.Jmp; k = decode(k.End()) {
		}
		if k.Target < j.At+5 || k.Target > j.At+20 {
			t.Errorf("%#x goes on at %#x", j.At, k.Target)
		}
	}
	for word, want := range map[int]Stop{wordEmpty: Empty, wordUnwound: Unwound, wordRecovered: Recovered, wordAsked: Asked, wordReplaced: Replaced} {
		if pc := at.Code + word64(switches, word); c.Bytes[pc-at.Code] != 0xcc || c.StopAt(pc+1) != want || c.StopAt(pc) != NoStop {
			t.Errorf("stop %d is not at %#x", want, pc)
		}
	}
	records := 0
	for i := range len(switches) - 6 { // what it calls by a word: the recorder, where something is behind
		if in, err := x86.Decode(c.Bytes[i:], at.Code+uint64(i)); err == nil && in.Kind == x86.CallInd && in.HasMem && in.Mem.RIP && in.End()+uint64(int64(in.Mem.Disp)) == at.Code+8*wordRecorder {
			if records++; !c.Returns[in.End()] {
				t.Errorf("%#x: nobody knows that a goroutine may stand there", in.End())
			}
		}
	}
	if records != 1 {
		t.Errorf("%d calls of the recorder", records)
	}
	odd := functions(t, im)
	odd.End.Bytes = []byte{0xc3, 0x90, 0x90, 0x90, 0x90, 0x90}
	if _, err := Assemble(at, Layout{}, odd, Kinds{}); err == nil || !strings.Contains(err.Error(), "not what it was") {
		t.Errorf("a function that is none: %v", err)
	}
	odd.End.Bytes = []byte{0x06}
	if _, err := Assemble(at, Layout{}, odd, Kinds{}); err == nil {
		t.Error("bytes that are no code")
	}
}

// TestAssembled: switch.bin is switch.S assembled.
func TestAssembled(t *testing.T) {
	for _, tool := range []string{"as", "objcopy"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	o, b := filepath.Join(t.TempDir(), "o"), filepath.Join(t.TempDir(), "b")
	for _, c := range [][]string{{"as", "-o", o, "switch.S"}, {"objcopy", "-O", "binary", "-j", ".text", o, b}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if have, err := os.ReadFile(b); err != nil || !slices.Equal(have, switches) {
		t.Errorf("switch.bin is not switch.S assembled: go generate (%v)", err)
	}
}

// TestWalk goes over a stack of three calls from moved code, one of which an interruption
// made.
func TestWalk(t *testing.T) {
	im, err := image.Open(program(t))
	if err != nil {
		t.Fatal(err)
	}
	entry := map[string]uint64{}
	for i := range im.Funcs {
		entry[im.Funcs[i].Name] = im.Funcs[i].Addr
	}
	const bias, base, moved = 0x10000, 0x7000, 1 << 40
	names := []string{"main.main", "runtime.newproc", "main.main"} // each at its first instruction, where the frame is empty
	var s Stack
	s.At = base
	w := Walker{Table: im.Go, Bias: bias, Home: func(ret uint64) uint64 { return ret &^ moved }, Injected: func(link uint64) bool { return link == entry["runtime.newproc"] }}
	for _, n := range append(names[1:], "runtime.goexit.abi0") {
		s.Words = binary.LittleEndian.AppendUint64(s.Words, entry[n]+bias|moved)
	}
	got := slices.Clone(w.Walk(&s, entry[names[0]]+bias, base, false))
	want := []Frame{{entry["main.main"] + bias, base, false}, {entry["runtime.newproc"] + bias, base + 8, true},
		{entry["main.main"] + bias, base + 16, false}, {entry["runtime.goexit.abi0"] + bias, base + 24, true}}
	if again := w.Walk(&s, entry[names[0]]+bias, base, false); !slices.Equal(got, want) || !slices.Equal(again, want) || !w.Whole {
		t.Errorf("%+v, then %+v, want %+v", got, again, want)
	}
	way := w.Way(&s, entry[names[0]]+bias)
	sameWay(t, &w, &s, entry[names[0]]+bias, way)
	whole := s.Words
	s.Words = s.Words[:8]
	if got := w.Walk(&s, entry["main.main"]+bias, base, true); len(got) != 2 || w.Whole {
		t.Errorf("a piece of a stack: %+v", got)
	}
	sameWay(t, &w, &s, entry[names[0]]+bias, way.inner.inner)
	s.Words = binary.LittleEndian.AppendUint64(slices.Clone(whole[:8]), entry["runtime.goexit.abi0"]+bias)
	sameWay(t, &w, &s, entry[names[0]]+bias, nil)
	s.Words = whole
	sameWay(t, &w, &s, entry[names[0]]+bias, way)
	w.many = manySteps
	sameWay(t, &w, &s, entry[names[0]]+bias, nil)
}

// sameWay: the way of a stack has the frames that Walk finds, and is the one that is
// expected if there is one.
func sameWay(t *testing.T, w *Walker, s *Stack, ret uint64, want *Way) {
	t.Helper()
	way, walked := w.Way(s, ret), slices.Clone(w.Walk(s, ret, s.At, true))
	for i := range walked {
		walked[i].SP = 0
	}
	if got := way.Frames(); !slices.Equal(got, walked) || want != nil && way != want {
		t.Errorf("%+v, want %+v; the same way: %t", got, walked, way == want)
	}
}

// TestSavedBy: the runtime puts each register to a place of its own, below where the
// goroutine goes on; another function is not taken for the one that does.
func TestSavedBy(t *testing.T) {
	im, err := image.Open(program(t))
	if err != nil {
		t.Fatal(err)
	}
	var preempt Function
	for i := range im.Funcs {
		if f := &im.Funcs[i]; strings.TrimSuffix(f.Name, ".abi0") == "runtime.asyncPreempt" {
			preempt = Function{f.Addr, im.Bytes(f.Addr)[:f.Size]}
		}
	}
	s, err := SavedBy(preempt)
	if err != nil {
		t.Fatal(err)
	}
	at := map[int64]bool{}
	for r, where := range s.At {
		if at[where] || where >= -8 || where%8 != 0 || r == x86.RSP {
			t.Errorf("register %d is at %d: %v", r, where, s.At)
		}
		at[where] = true
	}
	if s.At[x86.RBP] != -16 || s.At[x86.R15]-s.At[x86.RAX] != 8*13 || s.From <= preempt.Addr || s.From >= preempt.Addr+uint64(len(preempt.Bytes)) {
		t.Errorf("%v from %#x on, of %#x", s.At, s.From, preempt.Addr)
	}
	if _, err := SavedBy(functions(t, im).End); err == nil || !strings.Contains(err.Error(), "as in every Go so far") {
		t.Errorf("a function that saves few: %v", err)
	}
}
