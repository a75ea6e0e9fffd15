package cfg

import (
	"maps"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Threads of a pool wait for work, and who hands it out waits until it is done.
// That is no gate: nobody is let go on there. So around every wait of a program
// stands a region of another sort, an idle one: the wait, with what it takes to
// see whether there is anything to wait for, up to the next work, wait or wake.
// It is as small as that so that two rounds that follow each other are two. A
// function that does nothing but wait stands for its calls, unless nobody calls it.

// idleOps are library functions that are work where gates are looked for:
// meetings at condition variables have a rule of their own.
var idleOps = map[string]op{}

// conditionWaits are those that end with the condition's lock held.
var conditionWaits = []string{"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait",
	"g_cond_wait", "g_cond_wait_until", "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"}

// Libraries wrap the system's: what a program does by these waits, or ends waits, though
// it is their code that does it. Who need not wait has seen so before the call of a
// condition, which is of the region then, and behind that of a semaphore or a queue.
var (
	wrappedWaits = strings.Fields("uv_cond_wait uv_cond_timedwait uv_sem_wait SDL_CondWait SDL_CondWaitTimeout SDL_SemWait apr_thread_cond_wait " +
		"apr_thread_cond_timedwait apr_queue_pop g_async_queue_pop g_async_queue_timeout_pop _ZN14QWaitCondition4waitEP6QMutexm " +
		"_ZN14QWaitCondition4waitEP6QMutex14QDeadlineTimer _ZN10QSemaphore7acquireEi _ZN4Poco13SemaphoreImpl8waitImplEv _ZN4Poco9EventImpl8waitImplEv " +
		"_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE")
	wrappedWakes = strings.Fields("uv_cond_signal uv_cond_broadcast uv_sem_post SDL_CondSignal SDL_CondBroadcast SDL_SemPost apr_thread_cond_signal " +
		"apr_thread_cond_broadcast apr_queue_push g_async_queue_push _ZN14QWaitCondition7wakeOneEv _ZN14QWaitCondition7wakeAllEv _ZN10QSemaphore7releaseEi " +
		"_ZNSt3__118condition_variable10notify_oneEv _ZNSt3__118condition_variable10notify_allEv")
)

func init() {
	for _, n := range slices.Concat(conditionWaits, wrappedWaits) {
		idleOps[n] = op{kind: opWait, moves: true}
	}
	for _, n := range wrappedWakes {
		idleOps[n] = op{kind: opSync, wakes: true, moves: true}
	}
	for _, n := range []string{"pthread_cond_signal", "pthread_cond_broadcast", "cnd_signal", "cnd_broadcast",
		"g_cond_signal", "g_cond_broadcast", "_ZNSt18condition_variable10notify_oneEv", "_ZNSt18condition_variable10notify_allEv"} {
		idleOps[n] = op{kind: opSync, wakes: true, moves: true}
	}
	const until = "PjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE"
	for _, n := range []string{"_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilE", "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyE"} {
		idleOps[n+until] = op{kind: opWait, moves: true, future: true}
	}
}

// Wakes is how many calls in a block, or the jump at its end, let threads go on
// that wait for work or for its end, if there are any. Code that asks the system itself
// looks whether there are before it does: to look is enough.
func (p *Program) Wakes(b *Block) int {
	n := p.systemWakes(b)
	if len(b.Succ) > 1 {
		for _, e := range b.Succ {
			if e.To != nil {
				n += p.systemWakes(e.To)
			}
		}
	}
	wakes := func(name string) {
		if name = p.meaning(name); idleOps[name].wakes || wakers[name] {
			n++
		}
	}
	for i := range b.Calls {
		wakes(b.Calls[i].Import)
	}
	wakes(p.leavesTo(b))
	return n
}

// systemWakes is how many times a block asks the system for that.
func (p *Program) systemWakes(b *Block) (n int) {
	asks := func(at int, number, operation x86.Reg) {
		if systemCall(b, at, number, operation).wakes {
			n++
		}
	}
	for i := range b.Insns {
		switch in := &b.Insns[i]; {
		case isSyscall(in):
			asks(i, x86.RAX, x86.RSI)
		case in.Kind.IsCall() && b.CallOf(in).Import == "syscall":
			asks(i, x86.RDI, x86.RDX)
		}
	}
	if p.leavesTo(b) == "syscall" {
		asks(len(b.Insns)-1, x86.RDI, x86.RDX)
	}
	return n
}

// leavesTo is the library function that the jump at a block's end leaves to.
func (p *Program) leavesTo(b *Block) string {
	switch last := b.Last(); last.Kind {
	case x86.Jmp:
		return p.Image.PLT[last.Target]
	case x86.JmpInd:
		return p.Image.GOT[last.RIPTarget]
	}
	return ""
}

// maxIdle is how many idle regions of a program are watched.
const maxIdle = 100

// findIdle finds the idle regions, and the functions that are nothing but waits.
func (w *way) findIdle(waiters []*study, called map[*Func]bool) []Region {
	for _, f := range w.p.Funcs {
		if w.of(f).meets() {
			w.p.Waiters = append(w.p.Waiters, f.Ranges[0].Lo)
		}
	}
	slices.Sort(w.p.Waiters)
	for _, s := range waiters {
		if !called[s.Func] || w.wanted[s.Func] {
			w.idles(s)
		}
	}
	return w.sorted(maxIdle)
}

// idles finds the idle regions of a function.
func (w *way) idles(s *study) {
	for _, b := range s.Blocks {
		for _, o := range s.ops[b.ID] {
			if o.kind != opWait && o.kind != opWeak {
				continue
			}
			if b.Insns[o.at].Kind.IsJump() { // it comes out of that one, or of the caller's call
				if o.callee != nil {
					w.wanted[w.through(o.callee)] = true
				}
				continue
			}
			t := s.bordered(s.waitLoop(b), b, o)
			a, ok := t.grow(int32(b.ID), o.at)
			if !ok {
				continue
			}
			in := t.within(a)
			// Who sees that there is nothing to wait for passes it too.
			top, from := t.begin(a)
			first := inner{top, op{at: t.wayIn(top, from, in)}}
			if first.op.at < 0 {
				continue
			}
			if r, ok := t.region(a, append([]inner{first}, in...), false); ok {
				r.Idle, r.Future, r.Object, r.Site = true, o.future, NoObject, t.site(in)
				w.found = append(w.found, r)
			}
		}
	}
}

// begin is where an area's first instruction stands: a call may end a block.
func (s *study) begin(a area) (top int32, from int) {
	for top, from = a.top, a.from; from == len(s.Blocks[top].Insns); from = 0 {
		next := int32(-1)
		for _, e := range s.Blocks[top].Succ {
			if e.Kind != Caught && e.To != nil && a.has(int32(e.To.ID)) && next < 0 {
				next = int32(e.To.ID)
			}
		}
		if next < 0 {
			break
		}
		top = next
	}
	return top, from
}

// waitLoop is the outermost loop around a block that does nothing but wait: for
// one thread, or for several in turn.
func (s *study) waitLoop(b *Block) (outer *Loop) {
	for l := b.Loop; l != nil && (s.tries(l) || s.onlyWaits(l)); l = l.Parent {
		outer = l
	}
	return outer
}

// onlyWaits: in a loop is no work, and nothing that lets other threads begin.
func (s *study) onlyWaits(l *Loop) bool {
	stores, locks := false, false
	for _, b := range l.Blocks {
		if s.doomed[b.ID] {
			continue
		}
		if s.work[b.ID] {
			return false
		}
		stores = stores || s.stores[b.ID]
		for _, o := range s.ops[b.ID] {
			in := &b.Insns[o.at]
			if o.kind == opWork || o.wakes || o.adds && !(in.Lock && s.evens(l.Blocks)) || in.Lock && in.Map == 0 && in.Opcode&^1 == 0x86 { // xchg
				return false
			}
			locks = locks || o.kind == opSync && in.Kind.IsCall()
		}
	}
	return !stores || locks
}

// bordered is a study in which all waits and wakes are work but one wait, with those
// that follow it at once, and what is in the loop around it, which is one wait.
func (s *study) bordered(loop *Loop, of *Block, wait op) *study {
	t := *s
	series := s.series(point{int32(of.ID), wait.at})
	t.ops = make([][]op, len(s.ops))
	for _, b := range s.Blocks {
		t.ops[b.ID] = slices.Clone(s.ops[b.ID])
		for i := range t.ops[b.ID] {
			o := &t.ops[b.ID][i]
			own := series[point{int32(b.ID), o.at}] || loop != nil && loop.Has(b)
			if !own && (o.kind == opWait || o.kind == opWeak || o.wakes) {
				o.kind = opWork
			}
		}
	}
	t.loops = maps.Clone(s.loops)
	for _, l := range s.Graph.Loops {
		if loop != nil && (l == loop || loop.Has(l.Head)) {
			t.loops[l] = retries
		}
	}
	return &t
}

// OnlyWaits reports whether a function does nothing but wait: for the user it
// is its calls that wait.
func (p *Program) OnlyWaits(f *Func) bool {
	_, is := slices.BinarySearch(p.Waiters, f.Ranges[0].Lo)
	return is
}
