package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Runtimes that deal tasks out: no hook puts a frame of its own under a function that
// executes them, for exceptions pass through it. What is recorded of one stands where
// it is called or begins, and where the program goes on behind the call: at the
// return, or at a landing pad.

// taskCode emits what is recorded where such a function is entered: see tasks.inc in
// package threadarea.
func (m *emitter) taskCode(h record.Hook) {
	if m.s.opt.NoCounters {
		return // where its end is not told either
	}
	if h.Tasks == record.NoTasks {
		m.record(arriveKind(h))
		return
	}
	m.MovImm32(x86.R11, arriveKind(h))
	m.CallTo(m.cache + map[record.Tasks]uint64{record.SpawnsTask: threadarea.Spawns, record.AwaitsTasks: threadarea.RegionBegins, record.IsTask: threadarea.TaskBegins}[h.Tasks])
	if h.Tasks == record.IsTask && m.s.opt.Looks {
		m.takes(0)
	}
}

// leaveTasks emits what is recorded before a function of the program's returns, and
// that who has done a task looks before the runtime gives it another one: what it
// has looked for before that is still there for those who are behind it.
func (m *emitter) leaveTasks() {
	h, _ := m.s.hooks(m.q.Func.Role)
	if h.Tasks == record.AwaitsTasks && !m.s.opt.NoCounters {
		m.taskEnd(h)
	}
	if m.s.opt.Looks && (h.Tasks == record.IsTask || outlined(m.q.Func.Name)) {
		m.takes(0)
	}
	if m.s.opt.Looks && outlined(m.q.Func.Name) {
		m.says(threadarea.RestsEntry)
	}
}

func (m *emitter) taskEnd(h record.Hook) {
	m.MovImm32(x86.R11, h.Leave|threadarea.ScanBit)
	m.CallTo(m.cache + threadarea.RegionEnds)
}

// behindTasks emits what is recorded behind a call that returns when all tasks were
// executed, before it counts that control goes on.
func (m *emitter) behindTasks(c *cfg.Call) {
	if h, _ := m.s.hooks(c.Import); h.Tasks == record.AwaitsTasks {
		m.endTasks()
	}
}

// endTasks emits that the program goes on where the stack is as it was when it made
// such a call: behind one, or where it has caught an exception.
func (m *emitter) endTasks() {
	if m.awaits.Leave == 0 || m.s.opt.NoCounters {
		return
	}
	m.LeaRSP(-8) // as where the call returned to
	m.taskEnd(m.awaits)
	m.LeaRSP(8)
}

// awaitsTasks is the hook of the functions that the program imports for that, if any.
func (s *Spec) awaitsTasks() (h record.Hook) {
	if s.Program == nil || s.hooks == nil {
		return h
	}
	for name := range s.Program.Image.Imports {
		if x, ok := s.hooks(name); ok && x.Tasks == record.AwaitsTasks {
			return x // all are recorded alike
		}
	}
	return h
}
