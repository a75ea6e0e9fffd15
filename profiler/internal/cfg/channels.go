package cfg

import (
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Functions of Go's runtime by which goroutines hand each other things. What comes
// from a channel is dealt out by it: whoever is free receives the next.

// receives are those by which one receives: they return whether there was anything,
// or in which of several ways there was.
var receives = map[string]bool{"runtime.chanrecv1": true, "runtime.chanrecv2": true, "runtime.selectgo": true, "runtime.selectnbrecv": true}

// receivesInRust is what functions of Rust do by which one receives. Whoever is free takes
// what comes from a channel of crossbeam's; one of the standard library has one receiver,
// and who shares that has a lock around it.
func receivesInRust(name string) (h habit, is bool) {
	for _, function := range []string{"4recv", "8try_recv"} {
		if rustNamed(name, "17crossbeam_channel", function) {
			return habit{fetches: true, fills: x86.RDI.Set()}, true
		}
		if rustNamed(name, "3std4sync4mpmc", function) {
			return habit{fills: x86.RDI.Set()}, true
		}
	}
	return habit{}, false
}

// fetchesAtomic recognises functions of package sync/atomic, where they were not inlined,
// that change memory and return what was there, or whether they did.
func fetchesAtomic(name string) bool {
	f, is := strings.CutPrefix(name, "sync/atomic.")
	return is && (strings.Contains(f, "Add") || strings.Contains(f, "Swap"))
}

// Communicates reports whether a function of the runtime receives or sends.
func Communicates(name string) bool {
	return receives[name] || name == "runtime.chansend1" || name == "runtime.selectnbsend" || name == "runtime.closechan"
}
