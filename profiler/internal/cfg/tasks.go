package cfg

import (
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Runtimes that deal tasks out among threads of their own are in the program, in part
// or as a whole: templates of TBB's are instantiated there, and rayon is linked to it.
// What rules want to hear of is known by parts of mangled names, as is where a thread
// of Rust's has done what its scope waits for.

// Role is what rules call a function of a program, where that is not its name.
func Role(name string) string {
	r, _ := role(name)
	return r
}

// role is what rules call a function of such a runtime, "": nothing; scheduler: it
// looks for tasks, and what it does is no work of the program's.
func role(name string) (role string, scheduler bool) {
	switch {
	case strings.HasPrefix(name, "_ZN") && (strings.Contains(name, "7executeERN") && strings.HasSuffix(name, "14execution_dataE") ||
		strings.Contains(name, "15concrete_filterI") && strings.HasSuffix(name, "EclEPv")):
		return record.Task, false
	case rustNamed(name, "3std6thread6scoped", "9ScopeData29decrement_num_running_threads"):
		return record.Done, false
	case begins(name, tokioWorkers):
		return "", true
	case !strings.Contains(name, "rayon_core") && !strings.Contains(name, "crossbeam_"):
		return "", false
	case strings.HasPrefix(name, "_ZN") && strings.Contains(name, "$rayon_core..job..Job$GT$7execute17h"), rustNamed(name, "10rayon_core3job", "3Job7execute"):
		return record.Task, false
	case rustNamed(name, "10rayon_core8registry", "8Registry6inject"):
		return record.Spawn, false
	case rustNamed(name, "10rayon_core5latch", "9LockLatch14wait_and_reset"):
		return record.AwaitAll, false
	case strings.HasPrefix(name, "_ZN15crossbeam_deque"), strings.HasPrefix(name, "_ZN15crossbeam_epoch"), strings.HasPrefix(name, "_ZN10rayon_core5sleep"),
		rustNamed(name, "10rayon_core8registry", "12WorkerThread15wait_until_cold"), rustNamed(name, "10rayon_core8registry", "13ThreadBuilder3run"):
		return "", true
	}
	return "", false
}

// tokioWorkers are beginnings of the names of what Tokio's workers do between tasks,
// and threads for what blocks; none is made anew for what a user writes.
var tokioWorkers = []string{"_ZN5tokio7runtime9scheduler12multi_thread6worker3run17h", "_ZN5tokio7runtime9scheduler12multi_thread6worker7Context",
	"_ZN5tokio7runtime9scheduler12multi_thread6worker4Core", "_ZN5tokio7runtime9scheduler12multi_thread5queue", "_ZN5tokio7runtime9scheduler12multi_thread4idle",
	"_ZN5tokio7runtime11thread_pool6worker3run17h", "_ZN5tokio7runtime11thread_pool6worker7Context", "_ZN5tokio7runtime11thread_pool6worker4Core",
	"_ZN5tokio7runtime8blocking4pool5Inner3run17h"}

// rustNamed reports whether a function of Rust has a name, as it is mangled of old or anew.
func rustNamed(name, module, function string) bool {
	_, rest, of := strings.Cut(name, module)
	_, end, is := strings.Cut(rest, function)
	return of && is && (end == "" || strings.HasPrefix(end, "17h"))
}
