package native

import (
	"runtime/debug"
	"runtime/metrics"
)

// While the program runs records are the garbage: filed as soon as they are
// read. With many threads that is most of the memory, and it stands beside the
// target's; so little is let grow over what is in use. But what looks for
// garbage takes the target's cores, and looking costs as much as what is in use
// is large: a heap that is small anyway may grow to some size first.
const (
	smallHeap = 96 << 20
	overInUse = 40 // per cent
)

// heap is when garbage is looked for.
type heap struct{ percent int }

// pace sets that by what was in use when it was looked for last.
func (h *heap) pace() {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(inUse)
	n := int(inUse[0].Value.Uint64())
	if n == 0 {
		return // never yet
	}
	percent := max(overInUse, 100*smallHeap/n-100)
	if percent*4 < h.percent*3 || percent*3 > h.percent*4 { // it stops all threads
		debug.SetGCPercent(percent)
		h.percent = percent
	}
}
