package cfg

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// takesLock are the library functions that begin a critical section, takesOther
// those that take another kind of lock: when they return 0.
var (
	takesLock = []string{"pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock", "pthread_mutex_trylock",
		"mtx_lock", "mtx_timedlock", "mtx_trylock"}
	takesOther = []string{"pthread_spin_lock", "pthread_spin_trylock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock",
		"pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
		"pthread_rwlock_clockrdlock", "pthread_rwlock_clockwrlock"}
	givesBack = []string{"pthread_mutex_unlock", "pthread_spin_unlock", "pthread_rwlock_unlock", "mtx_unlock"}
)

// TakesLock reports whether a library function takes a lock when it returns 0, or
// whatever it returns (HasLock).
func TakesLock(function string) bool {
	return slices.Contains(takesLock, function) || slices.Contains(takesOther, function) || HasLock(function)
}

// GivesLock reports whether it gives one back.
func GivesLock(function string) bool {
	return slices.Contains(givesBack, function) || isTeams(function, teamsUnlock)
}

// Takes reports whether the k-th instruction of the block takes something that
// threads share: it reads and changes memory as one, and tells what was there. An
// exchange for 0 gives a lock back.
func (b *Block) Takes(k int) bool {
	in := &b.Insns[k]
	return fetches(in) && !(in.Map == 0 && b.zeroBefore(k, in.Reg))
}

// zeroBefore reports whether the block has set a register to 0 when it comes to its
// k-th instruction.
func (b *Block) zeroBefore(k int, r x86.Reg) bool {
	for k--; k >= 0; k-- {
		in := &b.Insns[k]
		if in.Def&r.Set() == 0 {
			continue
		}
		switch {
		case in.Map != 0:
			return false
		case in.Opcode == 0x31 || in.Opcode == 0x33:
			return in.Reg == r && in.RM == r
		default:
			return in.HasImm && in.Imm == 0 && (in.Opcode&0xf0 == 0xb0 || in.Opcode&0xfe == 0xc6)
		}
	}
	return false
}

// givesLockBack reports whether a wake in a block, of as many as a register says, is the end
// of a lock that was inlined: of one that waits for it, behind an exchange for 0 that told
// whether there is any. Whoever waits for a condition gives a lock back, and so wakes nobody
// by it, as by pthread's.
func givesLockBack(b *Block, k int, number x86.Reg) bool {
	if n, known := constant(b, k, number); !known || n != 1 || len(b.Pred) != 1 || b.Pred[0].From == nil {
		return false
	}
	before := b.Pred[0].From
	if !before.Last().Kind.IsConditional() {
		return false
	}
	for i := range before.Insns {
		if in := &before.Insns[i]; fetches(in) && in.Map == 0 && before.zeroBefore(i, in.Reg) {
			return true
		}
	}
	return false
}
