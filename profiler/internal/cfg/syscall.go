package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// Syscall reports whether instruction k of a block is a system call, and its
// number, where the block says so.
func (b *Block) Syscall(k int) (is bool, number uint32, known bool) {
	if !isSyscall(&b.Insns[k]) {
		return false, 0, false
	}
	n, known := constant(b, k, x86.RAX)
	return true, uint32(n), known
}
