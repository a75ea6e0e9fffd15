// Package garbage decides how seldom the Go runtime looks for garbage.
//
//	in use    ──▷ up to 128 MB nobody looks
//	          ──▷ beyond, when so much has been added to what was in use
//
// To look takes the cores that the target runs on, and the longer the more is in
// use. Left to itself the runtime begins at 4 MB, which every start of ours has
// several times over.
package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
)

const (
	small   = 128 << 20 // bytes that a heap may grow to anyway
	minimum = 4 << 20   // of the runtime's, with which it begins, times the percentage
	usual   = 100       // per cent
)

// paces are those that are wanted, the last one counts.
var paces struct {
	sync.Mutex
	over    []*int // per cent that may be added to what is in use
	percent int    // as it was set
}

// Pace has garbage looked for when so many per cent were added to what is in use, and
// not while the heap is small, until what it returns is called.
func Pace(over int) (end func()) {
	p := &over
	paces.Lock()
	defer paces.Unlock()
	if paces.over = append(paces.over, p); len(paces.over) == 1 {
		again()
	}
	set()
	return func() {
		paces.Lock()
		defer paces.Unlock()
		paces.over = slices.DeleteFunc(paces.over, func(x *int) bool { return x == p })
		set()
	}
}

// sentinel is garbage at once, so that its end tells that garbage was looked for.
type sentinel struct{ _ *sentinel }

// again sets the pace anew each time that it was.
func again() {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		paces.Lock()
		defer paces.Unlock()
		if len(paces.over) > 0 {
			set()
			again()
		}
	})
}

// set sets the percentage, if it would be another one: that stops all threads.
func set() {
	percent := usual
	if n := len(paces.over); n > 0 {
		percent = of(*paces.over[n-1], inUse())
	}
	if x := paces.percent; percent == usual || percent*4 < x*3 || percent*3 > x*4 {
		debug.SetGCPercent(percent)
		paces.percent = percent
	}
}

// of is the percentage where so many bytes are in use.
func of(over, bytes int) int {
	return max(over, 100*small/max(bytes, minimum)-100)
}

// inUse is what was when garbage was looked for last; 0: never yet.
func inUse() int {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int(s[0].Value.Uint64())
}
