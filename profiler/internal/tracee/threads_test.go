package tracee

import (
	"slices"
	"testing"
)

func TestThreads(t *testing.T) {
	p := start(t, "threads")
	check(t, p.Go())
	var children []int
	begun, gone := map[int]bool{}, map[int]bool{}
	for !gone[p.Pid] {
		e, err := p.Wait()
		check(t, err)
		switch e.Kind {
		case Cloned:
			child, _, err := p.Child(e.Tid)
			check(t, err)
			children = append(children, child)
		case NewThread:
			begun[e.Tid] = true
		case Gone:
			gone[e.Tid] = true
		}
		check(t, p.Resume(e))
	}
	if len(children) != 4 || len(begun) != 4 || len(gone) != 5 || p.Threads() != 0 {
		t.Errorf("%d threads announced, %d begun, %d gone with the first, %d left", len(children), len(begun), len(gone), p.Threads())
	}
	for _, tid := range children {
		if !begun[tid] || !gone[tid] {
			t.Errorf("thread %d was announced; it began %v, ended %v", tid, begun[tid], gone[tid])
		}
	}
}

// TestFork lets the child go: its parent finds it as if nobody had looked.
func TestFork(t *testing.T) {
	p := start(t, "fork")
	check(t, p.Go())
	for {
		e, err := p.Wait()
		check(t, err)
		if e.Kind == NewChild {
			if e.Tid == p.Pid || p.Threads() != 1 {
				t.Errorf("child %d of %d, %d threads", e.Tid, p.Pid, p.Threads())
			}
			check(t, p.Detach(e.Tid))
			break
		}
		check(t, p.Resume(e))
	}
	ends(t, p)
}

// TestExec: another program in the same process, also where a thread that is
// not the first one makes it.
func TestExec(t *testing.T) {
	for _, what := range []string{"exec", "exec-thread"} {
		t.Run(what, func(t *testing.T) {
			p := start(t, what)
			check(t, p.WriteWord(77, deeds.syms["word"]))
			check(t, p.Go())
			e, _ := until(t, p, Execed)
			path, args, env, err := p.Replaced()
			if err != nil || e.Tid != p.Pid || path != deeds.path || !slices.Equal(args, []string{"exit", "a b"}) || !slices.Equal(env, []string{"A=b"}) || p.Threads() != 1 {
				t.Errorf("thread %d of %d: %s %q in %q, %d threads, %v", e.Tid, p.Pid, path, args, env, p.Threads(), err)
			}
			if w, err := p.Word(deeds.syms["word"]); w != 5 || err != nil {
				t.Errorf("its memory is the old one: %d, %v", w, err)
			}
			check(t, p.Resume(e))
			ends(t, p)
		})
	}
}
