package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/goroutine"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// In a program in Go goroutines are what threads are in others: each has an area, and
// whatever thread goes on with it counts there (package goroutine). The threads
// themselves have none; what they execute that is nobody's, the scheduler's, is
// counted where nobody reads. Nothing stops when a goroutine is born, goes on or
// ends, but where the pool of areas is empty, and for panics that are recovered.

// golang is what was put into a program in Go beside moved code.
type golang struct {
	layout goroutine.Layout
	code   *goroutine.Code
	words  *tracee.Shared // the table, then the pool
	pool   []byte         // the profiler's view of it
	walker goroutine.Walker
	saved  goroutine.Saved // where it puts the registers of who is interrupted
}

// readGo reads what the program's runtime keeps where, or says why it cannot be
// profiled.
func readGo(path string, im *image.Image, lines backend.Lines, j *backend.Job) (l goroutine.Layout, err error) {
	refuse := func(format string, args ...any) (goroutine.Layout, error) {
		return l, &backend.Unavailable{Err: fmt.Errorf("%s is a Go program, and "+format, append([]any{path}, args...)...)}
	}
	if slices.ContainsFunc(im.Funcs, func(f image.Func) bool { return f.Name == "runtime.racefuncenter" }) {
		return refuse("it looks for data races, which takes most of its time; build it without -race")
	}
	if im.Go == nil && im.Stripped {
		return refuse("it has no symbols; build it without -ldflags=-s and -w")
	}
	if im.Go == nil {
		return refuse("its table of functions is not understood: %s", strings.Join(im.Doubts, "; "))
	}
	if err := im.Go.Known(); err != nil {
		return refuse("%v; build it by Go 1.22 or later", err)
	}
	if j.Machine != nil {
		return refuse("the caches that it would use cannot be simulated; leave out --events cache (--caches of scale)")
	}
	if l, err = goLayout(path, lines, j.Analyses); errors.Is(err, goroutine.ErrNoDWARF) && slices.ContainsFunc(im.Funcs, func(f image.Func) bool { return f.Name == "cmd/go/internal/work.runBuild" }) {
		return refuse("what it builds and runs is another one; build that by go build, or go test -c, and profile it")
	} else if errors.Is(err, goroutine.ErrNoDWARF) {
		return refuse("it has no debug information; build it without -ldflags=-s and -w")
	} else if err != nil {
		return refuse("its runtime is not understood: it %v", err)
	}
	return l, nil
}

// injectGo maps the detours and what they need, and leads the runtime there.
func (in *injection) injectGo(p *tracee.Process, l goroutine.Layout) error {
	if !p.SetsGS() {
		return &backend.Unavailable{Err: fmt.Errorf("this processor or kernel lets no program set GS (FSGSBASE), by which goroutines are told apart")}
	}
	m := in.modules[0]
	fs, err := m.goFunctions()
	if err != nil {
		return err
	}
	saved, err := goroutine.SavedBy(fs.Preempt)
	if err != nil {
		return err
	}
	g := &golang{layout: l, saved: saved, walker: goroutine.Walker{Table: m.im.Go, Bias: m.bias, Home: in.home, Injected: m.injected}}
	if g.words, err = p.MapShared(goroutine.TableSize + goroutine.PoolSize); err != nil {
		return err
	}
	if g.pool, err = g.words.View(goroutine.TableSize, (goroutine.PoolSize+4095)&^4095); err != nil {
		return err
	}
	at, err := in.goCode(p)
	if err != nil {
		return err
	}
	g.code, err = goroutine.Assemble(goroutine.Place{Code: at, Table: g.words.Addr, Common: in.base(0), Pool: g.words.Addr + goroutine.TableSize,
		Recorder: m.cache + threadarea.RecordEntry, Says: m.cache + threadarea.SaysEntry, Goes: m.cache + threadarea.GoesEntry, Copies: m.cache, CopiesSize: m.size}, l, fs, goKinds())
	if err != nil {
		return err
	}
	if err := p.Write(g.code.Bytes, at); err != nil {
		return err
	}
	beginParks(g.pool)
	var texts []text
	for _, j := range g.code.Jumps {
		texts = append(texts, text{j.At, j.Old, j.New})
	}
	in.golang = g
	return write(p, texts)
}

// goKinds are those of the detours' records, with what each asks for.
func goKinds() goroutine.Kinds {
	kind := func(name string) uint32 {
		h, _ := section.Hook(name)
		return h.Arrive
	}
	const chain, scan = threadarea.ChainBit, threadarea.ScanBit
	return goroutine.Kinds{Makes: kind(goMakes) | scan | chain, Make: kind(goMakes), Receive: kind(goReceives[0]) | chain, Send: kind(goSends) | scan | chain, First: kind(record.First),
		Parked: kind(record.Parked) | chain, Slept: kind(record.Slept) | chain, Polled: kind(record.Polled) | chain | threadarea.DeepBit, Woke: kind(record.Woke) | chain}
}

// goCode maps room for the detours within reach of the program.
func (in *injection) goCode(p *tracee.Process) (at uint64, err error) {
	m := in.modules[0]
	for _, from := range []uint64{m.cache + m.size, m.cache - 1<<20} {
		for n := range uint64(64) {
			at = (from + n<<20) &^ 0xfff
			if err = p.MapCode(at, goroutine.CodeSize); err == nil {
				return at, nil
			}
		}
	}
	return 0, fmt.Errorf("no room for code near %s: %w", m.im.Path, err)
}

// Functions of the runtime's by which go statements, and receiving from a channel and
// sending there, are told to the rules.
const (
	goMakes   = "runtime.newproc"
	goChooses = "runtime.selectgo"
	goSends   = "runtime.chansend1"
	goAsks    = "runtime.signalM" // a thread to leave its goroutine

	goPreempts = "runtime.asyncPreempt" // what a goroutine seems to have called that was interrupted

	goCoroutine = "runtime.corostart" // what runs while another one waits for it begins here (iter.Pull)
)

var goReceives = []string{"runtime.chanrecv1", "runtime.chanrecv2"}

// What makes the system calls of package syscall, as it was called before Go 1.23, until
// Go 1.25, and is.
var goSystem = []string{"runtime/internal/syscall.Syscall6", "internal/runtime/syscall.Syscall6", "internal/runtime/syscall/linux.Syscall6"}

// goFunctions are the runtime's functions that get detours.
func (m *module) goFunctions() (fs goroutine.Functions, err error) {
	find := func(name string) (f goroutine.Function, known bool) {
		for i := len(m.im.Funcs) - 1; i >= 0; i-- { // of thousands that have names a map would take longer
			if f := &m.im.Funcs[i]; f.Name == name {
				return goroutine.Function{Addr: f.Addr + m.bias, Bytes: m.im.Bytes(f.Addr)[:f.Size]}, true
			}
		}
		return f, false
	}
	get := func(name string) (f goroutine.Function) {
		f, known := find(name)
		if !known && err == nil {
			err = fmt.Errorf("%s has no %s in its runtime, as every Go had so far", m.im.Path, name)
		}
		return f
	}
	fs.Resume, fs.End, fs.Recover = get("gogo"), get("runtime.gdestroy"), get("runtime.recovery")
	fs.Make = get(goMakes)
	fs.Calls, fs.Back = get("runtime.reentersyscall"), get("runtime.exitsyscall")
	fs.Begin, fs.Next = get("runtime.(*unwinder).initAt"), get("runtime.(*unwinder).next")
	used := func(names ...string) (list []goroutine.Function) {
		for _, name := range names {
			if f, used := find(name); used {
				list = append(list, f)
			}
		}
		return list
	}
	fs.Receive, fs.Choose, fs.Send, fs.Ask = used(goReceives...), used(goChooses), used(goSends), used(goAsks)
	fs.System = used(goSystem...)
	fs.Follow = used("runtime.fpTracebackPartialExpand")
	if list := used(goPreempts, goPreempts+".abi0"); len(list) > 0 { // as symbols have it, and Go's table
		fs.Preempt = list[0]
	}
	if fs.Expand = used("runtime.fpunwindExpand"); m.im.Go.Before("go1.23") {
		fs.Expand, fs.Expand22 = nil, fs.Expand
	}
	fs.Park, fs.Ready, fs.ParkM = get("runtime.mcall"), get("runtime.ready"), get("runtime.park_m").Addr
	for _, name := range []string{"runtime.goschedImpl", "runtime.preemptPark"} {
		fs.Leave = append(fs.Leave, get(name))
	}
	return fs, err
}

// goroutines are those of the program: threads, to all else.
type goroutines struct {
	in         *injection
	offered    []*thread // in the pool, in their order; nil: one that counts nothing
	first      uint64    // the number of the first of these
	next       uint64    // and of the one that is offered next
	taken      []*thread // from there, by those that do not run yet
	byBase     map[uint64]*thread
	byID       map[uint64]*thread
	full       bool                 // others are not counted
	coroutines int                  // there have been
	carriers   map[int]*thread      // the threads that run them, by tid, where these have clocks
	kinds      map[uint64]startKind // of functions that they start in, by address
	lives      map[statement]*lives
	strange    cThreads
	makes      uint32 // the kind of records that one makes another
	parks      parks
}

// How many goroutines are told apart, at once and in all.
const (
	mostGoroutines = 8192
	allGoroutines  = 100_000
	allCoroutines  = allGoroutines / 2 // of iter.Pull: others of the program want room, too
)

// manyWaits is how many waits are recorded until it is looked at whether they are of
// interest: rings have room for very many.
const manyWaits = 4096

func newGoroutines(in *injection) *goroutines {
	makes, _ := section.Hook(goMakes)
	return &goroutines{in: in, makes: makes.Arrive, byBase: map[uint64]*thread{}, byID: map[uint64]*thread{}, carriers: map[int]*thread{}, kinds: map[uint64]startKind{}, lives: map[statement]*lives{}, strange: newCThreads(in.modules[0])}
}

// head is how many areas were taken from the pool.
func (gs *goroutines) head() uint64 { return binary.LittleEndian.Uint64(gs.in.golang.pool) }

// fill offers areas until there is one for a number; by is stopped.
func (ts *threads) fill(number uint64, by int) error {
	gs := ts.goroutines
	more := uint64(goroutine.PoolAreas / 4)
	if !gs.full { // else none has an area, which costs nothing
		ts.drainAll() // those that have ended leave room
		// Few where few live, and where there were few so far: areas that were in use just now
		// are at hand, and to prepare one takes long; but each stop costs, too.
		more = min(max(16, min(number/16, 128), 2*uint64(len(ts.byTid))), more)
	}
offering:
	for until := number + more; gs.next < until; gs.next++ {
		base := ts.in.base(0)
		full := gs.full || len(ts.all) > allGoroutines || len(gs.byBase) >= mostGoroutines
		t := (*thread)(nil)
		if !full {
			t = &thread{living: ts.living()}
			t.tid = -1 - int(gs.next)
			err := ts.settle(t, by)
			if full = err != nil; full && alive(err) == nil {
				return err // the program is about to end
			}
		}
		switch {
		case full:
			if gs.next > number && !gs.full {
				break offering // there may be room later
			}
			gs.full = true
			gs.offered = append(gs.offered, nil)
		default:
			base = ts.in.base(t.slot)
			gs.byBase[base] = t
			gs.offered = append(gs.offered, t)
		}
		pool := ts.in.golang.pool
		binary.LittleEndian.PutUint64(pool[64+8*(gs.next%goroutine.PoolAreas):], base)
	}
	binary.LittleEndian.PutUint64(ts.in.golang.pool[8:], gs.next)
	return nil
}

// births numbers the goroutines that have begun to run. certain is false where one has an
// area and is just about to: its thread may wait for a core, and others that took theirs
// later do not wait for it.
func (gs *goroutines) births(ts *threads) (certain bool) {
	gs.take(gs.head())
	for _, t := range gs.begun() {
		gs.born(ts, t)
	}
	return len(gs.taken) == 0
}

// take is told how many areas were taken.
func (gs *goroutines) take(head uint64) {
	for ; gs.first < head && len(gs.offered) > 0; gs.first++ {
		if t := gs.offered[0]; t != nil {
			gs.taken = append(gs.taken, t)
		}
		gs.offered = gs.offered[1:]
	}
}

// begun are those that run since it was asked for them last, in the order of their areas.
// Who made another one has taken its own before: it runs if it is looked at after that one.
func (gs *goroutines) begun() (list []*thread) {
	for i, t := range slices.Backward(gs.taken) {
		if t.area.State() >= threadarea.Runs {
			list = append(list, t)
			gs.taken = slices.Delete(gs.taken, i, i+1)
		}
	}
	slices.Reverse(list)
	return list
}

// born numbers one.
func (gs *goroutines) born(ts *threads, t *thread) {
	g := t.area.Goroutine()
	t.goroutine, t.begin, t.parent = g, g.Begin, gs.byID[g.Parent]
	gs.byID[g.ID] = t
	kind := gs.kindOf(g.Start)
	coroutine := kind == startsCoroutine
	if coroutine {
		gs.coroutines++
	}
	if kind == startsRuntimes || coroutine && gs.coroutines > allCoroutines {
		t.hidden = true
		ts.byTid[t.tid] = t
		return
	}
	ts.enter(t)
	ts.tracker.Made(t.id, g.ID, ts.calls.at(g.Created).addr, profile.Addr(ts.calls.function(g.Start)), coroutine)
}

// asked: a goroutine asks whether more of what it sends is to be recorded.
func (ts *threads) asked(t *thread) {
	ts.goroutines.births(ts)
	ts.drainAll()
	if t != nil {
		t.area.RecordSends(ts.tracker.Sends(t.id))
	}
}

// startKind is what a goroutine is by the function that it starts in.
type startKind int

const (
	startsOwn       startKind = iota // of the program
	startsRuntimes                   // of Go's runtime, which has some for its own ends
	startsCoroutine                  // it takes turns with the one that made it
)

func (gs *goroutines) kindOf(start uint64) startKind {
	kind, known := gs.kinds[start]
	if known {
		return kind
	}
	if m, a := gs.in.moduleOf(start); m != nil {
		switch f := m.im.FuncAt(a); {
		case f == nil || f.Name == "runtime.main":
		case f.Name == goCoroutine:
			kind = startsCoroutine
		case strings.HasPrefix(f.Name, "runtime.") || f.Name == "internal/runtime/cgroup" || f.Name == "unique.runtime_registerUniqueMapCleanup.func2":
			kind = startsRuntimes
		}
	}
	gs.kinds[start] = kind
	return kind
}

// drainGo takes the records of one goroutine.
func (ts *threads) drainGo(t *thread) {
	t.area.Records(func(rec record.Record) {
		t.lastTSC, rec.CPUNS = rec.TSC, ts.rate.ns(uint64(rec.CPUNS))
		rec.Delta = ts.solver.Resolve(t.area, rec.Delta)
		if loop, more := ts.units.passed(t, &rec); more {
			ts.skip(loop)
		}
		if section.IsUnit(rec.Kind) {
			ts.tracker.Record(t.id, rec)
			return
		}
		if rec.Whole {
			rec.Delta, t.untold = append(rec.Delta, t.untold...), nil
			if rec.Stack != nil {
				rec.Delta = t.caught(rec.Delta, ts.calls.open(&rec))
			}
		}
		if section.IsPark(rec.Kind) {
			ts.parked(t, &rec)
			return
		}
		ret := rec.Site
		rec.Site, rec.Chain = ts.calls.chain(&rec, rec.Delta)
		rec.Stack = nil
		if ts.cores == nil && ts.tracker.Unheard(profile.Addr(rec.Site)) {
			ts.in.common.Hush(ret)
		}
		if (!rec.Whole || rec.Kind == ts.goroutines.makes) && ts.goroutines.inRuntime(rec.Site) {
			t.untold = append(t.untold, slices.Clone(rec.Delta)...)
			return // it makes goroutines for its own ends
		}
		ts.tracker.Record(t.id, rec)
	})
}

// inRuntime reports whether an address of the profile is in Go's runtime.
func (gs *goroutines) inRuntime(a uint64) bool {
	f := gs.in.modules[0].im.FuncAt(a)
	return f != nil && strings.HasPrefix(f.Name, "runtime.")
}

// deaths is told of those that have ended.
func (gs *goroutines) deaths(ts *threads) {
	for _, t := range ts.byTid {
		if !t.dead && t.area.State() == threadarea.Ended {
			ts.buryGoroutine(t)
		}
	}
}

func (ts *threads) buryGoroutine(t *thread) {
	gs := ts.goroutines
	delete(gs.byBase, t.area.Base())
	t.end = t.area.Goroutine().End
	ticks, _ := t.area.Stints()
	t.cpuNS = ts.rate.ns(ticks)
	if t.hidden {
		t.dead = true
		if ts.in.wipe(t.slot, t.mem, t.area) == nil {
			ts.slots.give(t.slot)
		}
		ts.leave(t)
	} else {
		ts.death(t)
	}
	delete(ts.byTid, t.tid)
	ts.spare, t.living = append(ts.spare, t.living), nil
}

// goStop handles a stop of the detours.
func (s *session) goStop(e tracee.Event, pc uint64) (bool, error) {
	g := s.in.golang
	if g == nil {
		return false, nil
	}
	what := g.code.StopAt(pc)
	if what == goroutine.NoStop {
		return false, nil
	}
	regs, err := s.p.DwarfRegs(e.Tid)
	if err != nil {
		return true, err
	}
	const rax, rdi, r8 = 0, 5, 8
	switch what {
	case goroutine.Empty:
		err = s.threads.fill(regs[rax], e.Tid)
	case goroutine.Unwound:
		s.threads.goroutines.births(s.threads)
		if t := s.threads.goroutines.byBase[regs[rdi]]; t != nil {
			t.active = s.stacks.ofGoroutine(regs[r8], 0, nil)
		}
	case goroutine.Recovered:
		s.threads.goroutines.births(s.threads)
		s.recovered(regs[rax])
	case goroutine.Replaced:
		s.threads.goroutines.births(s.threads)
		if base, err := s.p.GS(e.Tid); err == nil && s.threads.goroutines.byBase[base] != nil {
			t := s.threads.goroutines.byBase[base]
			s.lineage.giveWay(e.Tid, leaver{who: t, frames: s.stacks.ofGoroutine(t.goroutine.Runtime, 0, &regs)})
		}
	case goroutine.Asked:
		s.threads.asked(s.threads.goroutines.byBase[regs[rdi]])
	}
	if err != nil {
		return true, err
	}
	return true, s.p.Resume(e)
}

// doubts are the warnings where there are too many, or others are at work.
func (gs *goroutines) doubts(run uint64) (list []profile.Warning) {
	if gs == nil {
		return nil
	}
	list = append(gs.strange.doubt(), gs.parks.doubts(run)...)
	if gs.coroutines > allCoroutines {
		list = append(list, profile.Warning{Code: "goroutines", Message: fmt.Sprintf("more than %d coroutines (iter.Pull): what others did is not counted", allCoroutines)})
	}
	if !gs.full {
		return list
	}
	return append(list, profile.Warning{Code: "goroutines", Message: fmt.Sprintf("more than %d goroutines at once, or %d in all: what others did is not counted", mostGoroutines, allGoroutines)})
}
