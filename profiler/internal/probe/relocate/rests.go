package relocate

import (
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// Threads of OpenMP's that wait for each other may spin in the runtime, which is not
// counted, and execute tasks meanwhile. Where threads are kept together in virtual time
// they say so, and nobody waits for who is found to spin then:
//
//	__kmpc_omp_taskwait ── rests ── spins ─┬─ a task: works … ends: rests ─┬─ … returns: works
//	                                       └───────────────────────────────┘

// restsIn are the functions of OpenMP's runtimes that threads wait in.
var restsIn = map[string]bool{"GOMP_barrier": true, "GOMP_barrier_cancel": true, "GOMP_loop_end": true, "GOMP_loop_end_cancel": true, "GOMP_sections_end": true,
	"GOMP_sections_end_cancel": true, "GOMP_taskwait": true, "GOMP_taskwait_depend": true, "GOMP_taskgroup_end": true, "GOMP_doacross_wait": true,
	"__kmpc_barrier": true, "__kmpc_cancel_barrier": true, "__kmpc_omp_taskwait": true, "__kmpc_omp_wait_deps": true, "__kmpc_end_taskgroup": true,
	"__kmpc_taskloop": true, "__kmpc_taskloop_5": true, "__kmpc_doacross_wait": true}

// rests emits that the thread waits for others, before a call that it does so in.
func (m *emitter) rests(c *cfg.Call) {
	if m.s.opt.Looks && restsIn[c.Import] {
		m.says(threadarea.RestsEntry)
	}
}

// worksBehind emits behind such a call that it goes on.
func (m *emitter) worksBehind(c *cfg.Call) {
	if m.s.opt.Looks && restsIn[c.Import] {
		m.says(threadarea.WorksEntry)
	}
}

// worksHere emits that it goes on where what a team executes begins, or a task.
func (m *emitter) worksHere() {
	if m.s.opt.Looks && outlined(m.q.Func.Name) {
		m.says(threadarea.WorksEntry)
	}
}

func (m *emitter) says(entry uint64) {
	m.belowRedZone(func() { m.CallTo(m.cache + entry) })
}

// outlined reports whether a function may be a task of OpenMP's, or what a team executes:
// compilers name these alike. Without symbols it is not known.
func outlined(name string) bool {
	return strings.Contains(name, "._omp_fn.") || strings.Contains(name, ".omp_task_entry.") || strings.Contains(name, ".omp_outlined")
}
