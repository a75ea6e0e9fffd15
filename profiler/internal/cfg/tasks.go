package cfg

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/image"
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
	case rustNamed(name, "5tokio7runtime4task6inject", "4push"), rustNamed(name, "5tokio7runtime8blocking4pool", "7Spawner10spawn_task"):
		return record.Hands, false
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

// OpenMP's runtimes may be linked to the program, too (libgomp.a; clang's
// -static-openmp). What compiled code calls of them is then as good as imported.
var teamForks = []string{"GOMP_parallel", "__kmpc_fork_call"}

// asksTeam are those by which code asks who it is: often first of all, where there is no
// room for coming back from a call that may not.
var asksTeam = strings.Fields("omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_get_num_procs omp_in_parallel omp_get_level omp_get_wtime")

// ofLibomp stand in the mangled names of what libomp does while threads wait, and more.
var ofLibomp = []string{"__kmp", "8kmp_info", "kmp_flag_", "18distributedBarrier"}

func hasTeams(im *image.Image) bool {
	return slices.ContainsFunc(im.Funcs, func(f image.Func) bool { return slices.Contains(teamForks, f.Name) })
}

// ofTeams is role of a function of a program that has such a runtime in it.
func ofTeams(name string) (role string, is bool) {
	if begins(name, []string{"GOMP_", "__kmpc_"}) || slices.Contains(asksTeam, strings.TrimRight(name, "_")) {
		return name, true
	}
	return "", begins(name, []string{"gomp_", "__kmp_"}) ||
		strings.HasPrefix(name, "_Z") && slices.ContainsFunc(ofLibomp, func(x string) bool { return strings.Contains(name, x) })
}

// ofRuntime says what a function is to runtimes that the program has in it.
func (f *Func) ofRuntime(teams bool) {
	if f.Role, f.Runtime = role(f.Name); teams && f.Role == "" && !f.Runtime {
		f.Role, f.Runtime = ofTeams(f.Name)
	}
}

// AsImported reports whether compiled code calls a function as if it were a library's.
func (f *Func) AsImported() bool { return f.Runtime && f.Role != "" && f.Role == f.Name }

// ImportAt is the name of the library function that calls and jumps to an address enter,
// by a stub, or as it was linked to the program; "" where none begins there.
func (p *Program) ImportAt(entry uint64) string {
	if f := p.FuncAt(entry); f != nil && f.AsImported() {
		return f.Name
	}
	return p.Image.PLT[entry]
}

// tokioWorkers are beginnings of the names of what Tokio's workers do between tasks,
// and threads for what blocks; none is made anew for what a user writes.
var tokioWorkers = []string{"_ZN5tokio7runtime9scheduler12multi_thread6worker3run17h", "_ZN5tokio7runtime9scheduler12multi_thread6worker7Context",
	"_ZN5tokio7runtime9scheduler12multi_thread6worker4Core", "_ZN5tokio7runtime9scheduler12multi_thread5queue", "_ZN5tokio7runtime9scheduler12multi_thread4idle",
	"_ZN5tokio7runtime11thread_pool6worker3run17h", "_ZN5tokio7runtime11thread_pool6worker7Context", "_ZN5tokio7runtime11thread_pool6worker4Core"}

// OfRust reports whether a function is written in Rust, as its name is mangled.
func OfRust(name string) bool {
	return strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "_ZN") && strings.Contains(name, "17h")
}

// rustNamed reports whether a function of Rust has a name, as it is mangled of old or anew.
func rustNamed(name, module, function string) bool {
	_, rest, of := strings.Cut(name, module)
	_, end, is := strings.Cut(rest, function)
	return of && is && (end == "" || strings.HasPrefix(end, "17h"))
}
