package garbage

import (
	"runtime"
	"sync"
	"syscall"
)

const (
	room     = 60 << 20 // bytes: most runs need less, with nobody who looks for garbage
	hugePage = 14       // MADV_HUGEPAGE
)

// Huge has the heap lie in huge pages, as far as a usual run needs it. A heap that grows
// for want of garbage has pages that were never there: to have them one by one took a
// seventh of what a run of a large program takes, a quarter where that does much. The
// runtime says nothing to the system about what it maps, and maps again what was reserved.
// So something large is allocated, the system told of where it lies, and that left to the
// heap.
var Huge = sync.OnceFunc(func() {
	for _, of := range []int{syscall.RLIMIT_AS, syscall.RLIMIT_DATA} {
		var limit syscall.Rlimit
		if syscall.Getrlimit(of, &limit) != nil || limit.Cur < 1<<40 {
			return // to be without ends the process
		}
	}
	_ = syscall.Madvise(make([]byte, room), hugePage)
	runtime.GC()
})
