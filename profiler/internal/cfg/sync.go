package cfg

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// What a function does to other threads, instruction by instruction. Only that
// decides where threads may meet; what functions are called does not.
type opKind uint8

const (
	opSync  opKind = iota // a locked instruction, a lock, a wake: may go before or behind a wait
	opPause               // gives time to others
	opSleep               // lets time pass: a wait where that is done until another thread has acted, else work
	opWeak                // waits for something, mostly not for a thread: read, poll
	opWait                // waits for another thread
	opWork                // anything else that takes time: no part of a meeting
)

// op is one such instruction.
type op struct {
	at     int // among the block's instructions
	kind   opKind
	callee *Func  // that waits, where it is a direct call or jump
	adds   bool   // fetches and adds, as who takes work does
	wakes  bool   // others that wait
	frees  bool   // may let others go on
	moves  bool   // something on: it counts, and keeps that
	future bool   // waits for one
	shown  uint64 // the instruction that the user sees, where that is another one
}

// effect is what a function does as a whole.
type effect struct {
	work  bool // something that is no part of a meeting
	waits bool
	weak  bool // waits, mostly not for a thread
	locks bool // an operation that may go before or behind a wait
	syncs bool
	adds  bool
	wakes bool
	insns int   // with those of its callees
	tail  *Func // a function that waits, which it ends in a jump to
	frees bool
	moves bool // counts, and keeps that where others see it

	future bool
}

const (
	lightCall = 400  // instructions of a function that may stand between two synchronising ones,
	syncCall  = 2000 // and of one that synchronises: unoptimised code comes to that
	tightSpan = 160  // bytes of a loop that may only wait
)

// importOps are library functions by what they do; what is missing is work.
var importOps = map[string]opKind{}

// wakers are those that let others go on.
var wakers = map[string]bool{"sem_post": true, "write": true, "writev": true, "eventfd_write": true, "send": true,
	"mq_send": true, "mq_timedsend": true, "msgsnd": true, atomicNotify: true}

// In libstdc++ of gcc 16 and later, waits of std::atomic, and of all that is made of
// them, and who ends them are in the library.
const (
	atomicDetail = "_ZNSt8__detail"
	atomicNotify = atomicDetail + "13__notify_implEPKvbRKNS_16__wait_args_baseE"
)

// lightImports neither wait nor take time.
var lightImports = map[string]bool{}

func init() {
	put := func(k opKind, names ...string) {
		for _, n := range names {
			importOps[n] = k
		}
	}
	put(opWait, "sem_wait", "sem_timedwait", "sem_clockwait", atomicDetail+"11__wait_implEPKvRNS_16__wait_args_baseE")
	put(opWeak, "read", "readv", "recv", "recvfrom", "recvmsg", "poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "eventfd_read",
		"sigwait", "sigwaitinfo", "msgrcv", "mq_receive", "mq_timedreceive")
	put(opPause, "sched_yield", "pthread_yield", "thrd_yield", "_ZNSt11this_thread5yieldEv",
		"pthread_mutex_trylock", "pthread_spin_trylock", "mtx_trylock", "sem_trywait")
	put(opSleep, "nanosleep", "usleep", "sleep", "clock_nanosleep", "thrd_sleep")
	put(opSync, "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_mutex_timedlock", "pthread_mutex_clocklock", "pthread_spin_lock", "pthread_spin_unlock",
		"pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_unlock", "mtx_lock", "mtx_timedlock", "mtx_unlock",
		"g_mutex_lock", "g_mutex_unlock", "sem_post", "sem_getvalue", "write", "writev", "send", "sendto", "sendmsg", "eventfd_write",
		"mq_send", "mq_timedsend", "msgsnd", atomicNotify)
	for _, n := range []string{"pthread_self", "pthread_equal", "thrd_current", "__errno_location", "__tls_get_addr", "_ZSt11_Hash_bytesPKvmm", "memcpy", "memset",
		"memcmp", "memmove", "clock_gettime", "gettimeofday", "time", "sched_getcpu", "_ZNSt6chrono3_V212steady_clock3nowEv",
		"_ZNSt6chrono3_V212system_clock3nowEv", "pthread_getspecific", "getpid", "gettid", "_ZnwmSt11align_val_t", "_Znwm", "_ZdlPv", "_ZdlPvm",
		"mcount", "__fentry__", "__cyg_profile_func_enter", "__cyg_profile_func_exit", // for gprof and the like, in each function
		"__cxa_guard_acquire", "__cxa_guard_release", "pthread_mutexattr_init", atomicDetail + "11__wait_args19_M_setup_proxy_waitEPKv"} {
		lightImports[n] = true
	}
}

// standardSync are the C++ library's own, by a part of their class's and of
// their own mangled name. Optimised they are inlined and known by what they do;
// unoptimised that is hidden behind dozens of calls.
var standardSync = []struct {
	class, function string
	effect          effect
}{
	{"7barrierI", "15arrive_and_wait", effect{waits: true, syncs: true, locks: true, frees: true, moves: true}},
	{"7barrierI", "6arrive", effect{syncs: true, locks: true, frees: true, wakes: true, moves: true}},
	{"7barrierI", "15arrive_and_drop", effect{syncs: true, locks: true, frees: true, wakes: true, moves: true}},
	{"7barrierI", "4wait", effect{waits: true, syncs: true}},
	{"14__tree_barrierI", "6arrive", effect{syncs: true, locks: true, frees: true, wakes: true, moves: true}},
	{"5latch", "15arrive_and_wait", effect{waits: true, syncs: true, locks: true, frees: true, moves: true}},
	{"5latch", "4wait", effect{waits: true, syncs: true}},
	{"5latch", "10count_down", effect{syncs: true, locks: true, frees: true, wakes: true, moves: true}},
	{"18counting_semaphoreI", "7acquire", effect{waits: true, syncs: true, moves: true}},
	{"18counting_semaphoreI", "7release", effect{syncs: true, locks: true, frees: true, wakes: true, moves: true}},
}

// atomicWait begins the names of the functions that all waits of std::atomic call, where
// they are not inlined: who waits is counted there by functions of their own.
const atomicWait = "_ZSt23__atomic_wait_address_v"

// boostWait is Boost's wait on a condition, which looks whether the thread is to be interrupted.
const boostWait = "_ZN5boost18condition_variable4waitERNS_11unique_lockINS_5mutexEEE"

// standardWaits are classes of the C++ library by which threads meet: what their
// members fetch from what all share is a place in line, and no work.
var standardWaits = []string{"7barrierI", "14__tree_barrierI", "5latch", "18counting_semaphoreI", "18__atomic_semaphore"}

// goFiles is the package of Go's locks of open files, which count who uses them: no work
// either.
const goFiles = "internal/poll."

// letsMeet reports whether a function is a member of one.
func letsMeet(name string) bool {
	return strings.HasPrefix(name, goFiles) || ofStandard(name) && slices.ContainsFunc(standardWaits, func(class string) bool { return strings.Contains(name, class) })
}

// ofStandard reports whether a mangled name is of the C++ library's.
func ofStandard(name string) bool {
	return strings.HasPrefix(name, "_ZNSt") || strings.HasPrefix(name, "_ZNKSt")
}

// rustSync are Rust's own, by parts of their mangled names, old and new: what they
// do is hidden behind calls of what else the library has.
var rustSync = []struct {
	module, function string
	effect           effect
}{
	{"3std4sync7barrier", "7Barrier4wait", effect{waits: true, syncs: true, locks: true, frees: true, moves: true}},
	{"3std6thread", "4park", effect{waits: true, syncs: true}},
	{"3std3sys", "14lock_contended", effect{syncs: true, locks: true}}, // who locks is no more in a meeting than by pthread's
	{"3std3sys", "14read_contended", effect{syncs: true, locks: true}},
	{"3std3sys", "15write_contended", effect{syncs: true, locks: true}},
	{"3std3sys", "7Condvar4wait", effect{waits: true, syncs: true}},
	{"3std3sys", "7Condvar12wait_timeout", effect{waits: true, syncs: true}},
	{"4mpmc", "4recv", effect{waits: true, syncs: true, moves: true}},
	{"4mpmc", "4send", effect{syncs: true, locks: true, frees: true, wakes: true, moves: true}},
	{"11parking_lot7condvar", "7Condvar4wait", effect{waits: true, syncs: true}},
	{"11parking_lot7condvar", "7Condvar19wait_until_internal", effect{waits: true, syncs: true}},
	{"11parking_lot7condvar", "7Condvar15notify_one_slow", effect{syncs: true, locks: true, frees: true, wakes: true, moves: true}},
	{"11parking_lot7condvar", "7Condvar15notify_all_slow", effect{syncs: true, locks: true, frees: true, wakes: true, moves: true}},
	{"11parking_lot", "_slow", effect{syncs: true, locks: true}},                                                    // of all locks
	{"16parking_lot_core", "", effect{syncs: true, locks: true}},                                                    // what these are made of
	{"5tokio7runtime4park16CachedParkThread", "4park", effect{waits: true, syncs: true, moves: true, future: true}}, // who blocks on futures, each by itself
	{"5tokio7runtime4task5state5State", "21transition_to_running", effect{waits: true, syncs: true}},                // a worker between two tasks
	{"5tokio7runtime4task5state", "", effect{syncs: true, locks: true}},
	{"5tokio7runtime4task7harness15can_read_output", "", effect{syncs: true, locks: true}},
	{"5tokio4sync6notify", "", effect{syncs: true, locks: true}},
	{"17crossbeam_channel", "4recv", effect{waits: true, syncs: true, moves: true}},
	{"17crossbeam_channel", "4send", effect{syncs: true, locks: true, frees: true, wakes: true, moves: true}},
}

// rust is what a function of Rust's library does, if it is known.
func rust(name string) *effect {
	for i := range rustSync {
		if x := &rustSync[i]; rustNamed(name, x.module, x.function) || x.function == "" && strings.HasPrefix(name, "_ZN"+x.module) {
			e := x.effect
			return &e
		}
	}
	return nil
}

// RustWaits reports whether a function of Rust's library waits for threads; parks: for
// any of them, and whoever calls it says which.
func RustWaits(name string) (waits, parks bool) {
	e := rust(name)
	return e != nil && e.waits, e != nil && e.waits && !e.frees
}

// standard is what a function of a language's library does, if it is known.
func standard(name string) *effect {
	if strings.HasPrefix(name, atomicWait) || name == boostWait {
		return &effect{waits: true, syncs: true}
	}
	if !ofStandard(name) {
		return rust(name)
	}
	for i := range standardSync {
		x := &standardSync[i]
		if _, rest, of := strings.Cut(name, x.class); of && strings.Contains(rest, x.function+"E") || of && strings.Contains(rest, x.function+"B") {
			e := x.effect
			return &e
		}
	}
	return nil
}

// synchronises reports whether an instruction alone makes its function worth a look.
func synchronises(in *x86.Insn) bool { return in.Lock || IsPause(in) || isSyscall(in) }

// IsPause recognises the instruction by which a thread says that it waits.
func IsPause(in *x86.Insn) bool {
	return in.Vex == 0 && in.Map == 0 && in.Opcode == 0x90 && in.Rep == 0xf3
}

func isSyscall(in *x86.Insn) bool { return in.Vex == 0 && in.Map == 1 && in.Opcode == 0x05 }

// addsLocked: lock add, inc, xadd and the like, but no compare and exchange.
func addsLocked(in *x86.Insn) bool {
	if !in.Lock {
		return false
	}
	switch in.Map {
	case 0:
		return in.Opcode != 0x86 && in.Opcode != 0x87
	case 1:
		return in.Opcode == 0xc0 || in.Opcode == 0xc1
	}
	return false
}

// System calls by number.
const (
	sysRead, sysPoll, sysSelect, sysSchedYield, sysNanosleep, sysFutex, sysClockNanosleep = 0, 7, 23, 24, 35, 202, 230
)

// systemCall says what a system call does whose number and, of a futex, whose
// operation are set before instruction k; from syscall(2) the arguments are one
// register later than from the instruction. Compilers make one call of several
// that follow one another, as of a wake and the wait behind it: where one of
// the ways to it waits, it does, and that way is what the user sees of it.
func systemCall(b *Block, k int, number, operation x86.Reg) (o op) {
	if set(b, k, number) >= 0 || set(b, k, operation) >= 0 || len(b.Pred) < 2 {
		return numbered(b, k, number, operation)
	}
	waits := 0
	for i, e := range b.Pred {
		if e.From == nil {
			return op{kind: opWait}
		}
		end := len(e.From.Insns)
		p := numbered(e.From, end, number, operation)
		if at := set(e.From, end, operation); p.kind == opWait && at >= 0 {
			p.shown = e.From.Insns[at].Addr
		}
		if p.kind == opWait {
			waits++
		}
		if i == 0 || p.kind > o.kind {
			o = p
		}
	}
	if waits != 1 {
		o.shown = 0
	}
	return o
}

// numbered is that of what a block itself says.
func numbered(b *Block, k int, number, operation x86.Reg) (o op) {
	n, known := constant(b, k, number)
	if !known {
		return op{kind: opWait}
	}
	switch n {
	case sysFutex:
		const private, realtime = 128, 256
		switch o, known := constant(b, k, operation); {
		case known && o&^(private|realtime) != 0 && o&^(private|realtime) != 9 && o&^(private|realtime) != 6:
			return op{kind: opSync, wakes: true}
		}
		return op{kind: opWait}
	case sysRead, sysPoll, sysSelect:
		return op{kind: opWeak}
	case sysSchedYield:
		return op{kind: opPause}
	case sysNanosleep, sysClockNanosleep:
		return op{kind: opSleep}
	}
	return op{kind: opSync}
}

// set is the instruction of a block before instruction k that sets a register
// last, or the call that leaves it unknown; −1: none.
func set(b *Block, k int, r x86.Reg) int {
	for k--; k >= 0; k-- {
		if in := &b.Insns[k]; in.Kind.IsCall() || in.Def&r.Set() != 0 {
			return k
		}
	}
	return -1
}

// constant is the value that a register gets in a block before instruction k,
// where that is a constant.
func constant(b *Block, k int, r x86.Reg) (v int64, known bool) {
	at := set(b, k, r)
	if at < 0 {
		return 0, false
	}
	switch in := &b.Insns[at]; {
	case in.Kind.IsCall():
	case in.Map == 0 && in.Vex == 0 && in.HasImm && (in.Opcode >= 0xb8 && in.Opcode <= 0xbf || in.Opcode == 0xc7):
		return in.Imm & 0xffffffff, true
	case in.Map == 0 && in.Vex == 0 && in.Opcode&^2 == 0x31 && in.Reg == in.RM: // xor with itself
		return 0, true
	}
	return 0, false
}
