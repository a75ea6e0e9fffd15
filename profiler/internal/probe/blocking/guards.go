package blocking

import (
	"bytes"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Asks is what comes before a system call where there are threads that nobody
// traces: an entry of guard.S.
type Asks uint32

const (
	asksNothing Asks = 0
	asksAll     Asks = 0x10 // the profiler traces all threads
	asksSelf    Asks = 0x20 // the thread is traced
	asksClone   Asks = 0x30 // a new thread takes its area itself
	asksClone3  Asks = 0x40
	asksEnd     Asks = 0x50 // the thread says that it ends
	asksAny     Asks = 0x70 // what the number asks for
)

// guarded are the system calls that the profiler must know of before they are made.
var guarded = map[uint32]Asks{
	13:  asksAll,    // rt_sigaction: handlers see where threads stand
	56:  asksClone,  // clone
	57:  asksSelf,   // fork: the child's counters lead nowhere
	58:  asksSelf,   // vfork
	59:  asksAll,    // execve: it ends all other threads, wherever they are, and the caller's frames
	60:  asksEnd,    // exit: behind clone's and clone3's, of a thread whose function has returned
	157: asksAll,    // prctl, which may forbid what is asked with
	231: asksAll,    // exit_group
	317: asksAll,    // seccomp, likewise
	322: asksAll,    // execveat
	435: asksClone3, // clone3
}

// Where functions of the C library make these calls.
var (
	syscallCode = []byte{0x0f, 0x05}
	endCode     = []byte{0x31, 0xff, 0x89, 0xd0, 0x0f, 0x05} // xor %edi, %edi; mov %edx, %eax; syscall: the end of start_thread, and of a first thread that others outlive
)

// Guards are the sites of a C library at which guarded calls are made. ok is
// false where the library is not as it is known: then some are missing.
func Guards(im *image.Image) (sites []Site, ok bool) {
	ends := 0
	have := map[uint32]bool{}
	for s, at := range syscalls(im) {
		x, nr, is := guardAt(im, s, at)
		if !is {
			continue
		}
		if nr == 0 {
			ends++
		}
		have[nr] = true
		sites = append(sites, x)
	}
	x, exits := exitEntry(im)
	if exits {
		sites = append(sites, x)
	}
	return sites, ends > 0 && exits && have[13] && have[59] && have[56]
}

// guardAt is the site at an offset of a section: a system call right behind
// what loads its number.
func guardAt(im *image.Image, s *image.Section, at int) (x Site, nr uint32, ok bool) {
	n := len(endCode) - len(syscallCode)
	if at >= n && bytes.Equal(s.Data[at-n:at+len(syscallCode)], endCode) {
		x, ok = plain(im, s.Addr+uint64(at), n, asksEnd)
		return x, 0, ok
	}
	const loads = 0xb8 // mov $…, %eax
	if at < asm.JumpLen || s.Data[at-asm.JumpLen] != loads {
		return x, 0, false
	}
	b := s.Data[at-4:]
	nr = uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	asks, is := guarded[nr]
	if !is {
		return x, nr, false
	}
	x, ok = plain(im, s.Addr+uint64(at), asm.JumpLen, asks)
	return x, nr, ok
}

// plain is a site whose n bytes before the call are moved.
func plain(im *image.Image, at uint64, n int, asks Asks) (x Site, ok bool) {
	x = Site{At: at, Asks: asks}
	for a := at - uint64(n); a < at; {
		in, err := x86.Decode(im.Bytes(a), a)
		if err != nil || in.Kind != x86.Normal {
			return x, false
		}
		x.Moved = append(x.Moved, in)
		a = in.End()
	}
	var b body
	if f := im.FuncAt(at); f != nil {
		if b.read(im, f); b.leads(at) {
			return x, false
		}
	}
	return x, true
}

// exitEntry is the beginning of _exit, which makes its calls in a loop without
// room for a jump.
func exitEntry(im *image.Image) (x Site, ok bool) {
	for i := range im.Funcs {
		f := &im.Funcs[i]
		if f.Name != "_exit" && f.Name != "_Exit" {
			continue
		}
		x = Site{At: f.Addr, Asks: asksAll, Entry: true}
		for n := 0; n < asm.JumpLen; n = int(x.At - f.Addr) {
			in, err := x86.Decode(im.Bytes(x.At), x.At)
			if err != nil || in.Kind != x86.Normal {
				return x, false
			}
			x.Moved = append(x.Moved, in)
			x.At = in.End()
		}
		var b body
		b.read(im, f)
		for _, a := range b.targets {
			if a > f.Addr && a < x.At {
				return x, false
			}
		}
		return x, !b.blind
	}
	return x, false
}

// Both are the sites of a library that are timed and those that are guarded,
// where one is both as guarded.
func Both(timed, guarded []Site) []Site {
	both := guarded
	for _, x := range timed {
		apart := true
		for i := range guarded {
			g := &guarded[i]
			apart = apart && (x.After() <= g.Start() || g.After() <= x.Start())
		}
		if apart {
			both = append(both, x)
		}
	}
	sort.Slice(both, func(i, j int) bool { return both[i].At < both[j].At })
	return both
}

// Unguarded reports whether an image that is no C library surely makes none of
// the guarded calls by itself.
func Unguarded(im *image.Image) bool {
	var b body
	for s, at := range syscalls(im) {
		if b.guarded(im, s.Addr+uint64(at)) {
			return false
		}
	}
	return true
}

// guarded reports whether there may be a guarded call at an address: its number
// is one, or not known in a function that loads no number of a call that blocks.
func (b *body) guarded(im *image.Image, at uint64) bool {
	f := im.FuncAt(at)
	if f == nil {
		return false
	}
	b.read(im, f)
	k := sort.Search(len(b.insns), func(i int) bool { return b.insns[i].Addr >= at })
	if k == len(b.insns) || b.insns[k].Addr != at {
		return false // in the middle of an instruction
	}
	if nr, known := b.number(k); known {
		_, is := guarded[nr]
		return is
	}
	waits := false
	for i := range b.insns {
		in := &b.insns[i]
		if in.Map != 0 || in.Vex != 0 || in.Opcode&^7 != 0xb8 || !in.HasImm {
			continue
		}
		if _, is := guarded[uint32(in.Imm)]; is {
			return true
		}
		waits = waits || blocks[uint32(in.Imm)]
	}
	return !waits
}

// Ask is the code by which a thread asks to be traced.
func (s *Stubs) Ask() uint64 { return s.Base + s.guard + guardAsk }

// Asks reports whether a thread that stopped at an address asks for something.
func (s *Stubs) Asks(pc uint64) bool { return s != nil && pc == s.Base+s.guard+askedAt }

// Asking reports whether a thread at an address waits for what it asked for.
func (s *Stubs) Asking(pc uint64) bool {
	return s != nil && pc-s.Base-s.guard-askedAt <= answeredAt-askedAt
}

// AskedFrom is where what it asks for was kept on its stack: the address at which it
// will make its call, and where its stack pointer will be then.
func AskedFrom(sp uint64) (call, after uint64) {
	const pushed, redZone = 9 * 8, 128
	return sp, sp + pushed + 8 + redZone
}
