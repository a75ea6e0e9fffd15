package relocate

import (
	"bytes"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

const tasking = `
#include <stdio.h>
#include <stdlib.h>
int task(int) __asm__("_ZN3tbb6detail2d19start_forI1XE7executeERNS1_14execution_dataE");
__attribute__((noinline)) int task(int n) { while (n-- > 3) putchar(n); return n; }
int main(int argc, char **argv) { abs(argc); puts("all"); if (getenv("X")) return task(argc); return 7; }
`

// taskHooks: puts waits for all tasks, and getenv has one made.
func taskHooks(name string) (record.Hook, bool) {
	switch name {
	case "puts":
		return record.Hook{Arrive: 5, Leave: 6, Chain: true, Tasks: record.AwaitsTasks}, true
	case "getenv":
		return record.Hook{Arrive: 7, Chain: true, Tasks: record.SpawnsTask}, true
	case record.Task:
		return record.Hook{Arrive: 8, Tasks: record.IsTask}, true
	}
	return record.Hook{}, false
}

// TestTasksAreTold: no frame of ours is put under what executes tasks; it is told where
// the program goes on behind it, and where a task begins.
func TestTasksAreTold(t *testing.T) {
	for _, looks := range []bool{false, true} {
		p := probetest.Open(t, proctest.Build(t, "gcc", "-O1", "-Wl,-z,lazy", proctest.Source(t, "tasks.c", tasking)))
		s := New(p, taskHooks, probe.Options{Looks: looks}, Numbers{})
		c, err := s.Assemble(s.Home())
		if err != nil {
			t.Fatal(err)
		}
		told := func(kind uint32, entry uint64, at uint64) []byte {
			a := asm.New(at)
			a.MovImm32(x86.R11, kind)
			a.CallTo(c.Base + entry)
			return a.Bytes()
		}
		const chain = threadarea.ScanBit | threadarea.ChainBit | threadarea.DeepBit
		for at, name := range p.Image.PLT {
			want, entry := uint32(5|chain), uint64(threadarea.RegionBegins)
			switch name {
			case "getenv":
				want, entry = 7|chain, threadarea.Spawns
			case "puts":
			default:
				continue
			}
			to, _ := asm.JumpTarget(c.textAt(at, asm.JumpLen), at)
			if code := told(want, entry, to); !bytes.HasPrefix(c.Bytes[to-c.Base:], code) {
				t.Errorf("the hook of %s is % x, want % x", name, c.Bytes[to-c.Base:][:len(code)], code)
			}
		}
		// Somewhere in the copy: what is recorded has a place of its own, so the calls differ.
		find := func(kind uint32, entry uint64) bool {
			for at := c.Base; at < c.Base+uint64(len(c.Bytes)); at++ {
				if bytes.HasPrefix(c.Bytes[at-c.Base:], told(kind, entry, at)) {
					return true
				}
			}
			return false
		}
		if !find(6|threadarea.ScanBit, threadarea.RegionEnds) {
			t.Error("it is not told that all tasks were executed")
		}
		if !find(8|threadarea.ScanBit|threadarea.DeepBit, threadarea.TaskBegins) {
			t.Error("it is not told that a task begins")
		}
	}
}

// TestArguments: those that are asked for are recorded, from registers, from the stack
// and from where they lead to, and passed on where a frame of ours is in between.
func TestArguments(t *testing.T) {
	m := &emitter{Assembler: asm.New(1 << 20), cache: 1 << 20, s: &Spec{Program: &cfg.Program{}}}
	args := record.Args{N: 8, Arg1: record.Arg{At: 1}, Arg3: record.Arg{At: 8, By: record.Pointer32}, Out: record.Arg{At: 7, By: record.Pointer64}}
	m.recordCall(5, args)
	m.framed(args, func() { m.Nop(1) })
	m.recordCall(6, record.Args{N: 5, Arg1: record.Arg{At: 3}, Arg3: record.Arg{At: 5}})
	m.framed(record.Args{N: 5, Out: record.Arg{At: 2}}, func() { m.Nop(1) })

	a := asm.New(1 << 20)
	put := func(kind uint32, load func()) {
		a.Mov(x86.R10, x86.RDI, true)
		a.Mov(x86.RAX, x86.RDX, true)
		load()
		a.MovImm32(x86.R11, kind)
		a.CallTo(1<<20 + threadarea.RecordEntry)
		a.Mov(x86.RDI, x86.R10, true)
		a.Mov(x86.RDX, x86.RAX, true)
	}
	put(5, func() {
		a.Mov(x86.RDI, x86.R10, true)
		a.RestoreRSP(x86.RDX, 16) // the eighth
		a.Load(x86.RDX, x86.RDX, false)
	})
	a.PushRSP(8)  // where something is put: the seventh
	a.PushRSP(24) // the eighth,
	a.PushRSP(24) // and the seventh once more
	a.Nop(1)
	a.RestoreRSP(x86.RDI, 16)
	a.Load(x86.RDI, x86.RDI, true)
	a.LeaRSP(24)
	put(6, func() {
		a.Mov(x86.RDI, x86.RAX, true)
		a.Mov(x86.RDX, x86.R8, true)
	})
	a.Push(x86.RSI)
	a.Nop(1)
	a.RestoreRSP(x86.RDI, 0)
	a.LeaRSP(8)
	if !bytes.Equal(m.Bytes(), a.Bytes()) {
		t.Errorf("got  % x\nwant % x", m.Bytes(), a.Bytes())
	}
}

// TestOutlined: the tasks of OpenMP, and what teams execute, by the names that compilers give them.
func TestOutlined(t *testing.T) {
	for name, want := range map[string]bool{"main._omp_fn.3": true, "solver_MOD_step._omp_fn.0": true, ".omp_task_entry.": true, ".omp_task_entry..14": true,
		".omp_outlined.": true, "main.omp_outlined": true, "main": false, "omp_fn": false} {
		if outlined(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
