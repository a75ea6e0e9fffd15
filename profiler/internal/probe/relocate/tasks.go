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

// leaveTasks emits what is recorded before a function of the program's returns.
func (m *emitter) leaveTasks() {
	if h, ok := m.s.hooks(m.q.Func.Role); ok && h.Tasks == record.AwaitsTasks && !m.s.opt.NoCounters {
		m.taskEnd(h)
	}
}

func (m *emitter) taskEnd(h record.Hook) {
	m.MovImm32(x86.R11, h.Leave|threadarea.ScanBit)
	m.CallTo(m.cache + threadarea.RegionEnds)
}

// behindTasks emits what is recorded where a block is come to behind a call that
// returns when all tasks were executed, or as an exception is caught.
func (m *emitter) behindTasks(b *cfg.Block) {
	if m.awaits.Leave == 0 || m.s.opt.NoCounters {
		return
	}
	behind := b.Pad
	for _, e := range b.Pred {
		if e.From != nil && e.Kind == cfg.Fall && len(e.From.Calls) > 0 {
			h, _ := m.s.hooks(e.From.Calls[len(e.From.Calls)-1].Import)
			behind = behind || h.Tasks == record.AwaitsTasks
		}
	}
	if behind {
		m.LeaRSP(-8) // as where the call returned to
		m.taskEnd(m.awaits)
		m.LeaRSP(8)
	}
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
