package unwind

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestDebuggersTable walks through code of which only the table for debuggers tells.
func TestDebuggersTable(t *testing.T) {
	for _, f := range []struct{ name, compiler, flags string }{
		{"O2", "gcc", "-O2 -fomit-frame-pointer"},
		{"O0", "gcc", "-O0"},
		{"compressed", "gcc", "-O2 -gz"},
		{"no-pie", "gcc", "-O1 -no-pie"},
		{"left-out", "clang", "-O2 -ffunction-sections -fuse-ld=lld -Wl,--gc-sections"},
	} {
		t.Run(f.name, func(t *testing.T) {
			prog := proctest.Build(t, f.compiler, append(strings.Fields(f.flags), "-g", "-fno-optimize-sibling-calls", "-pthread", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "testdata/stack.c")...)
			for _, kind := range []string{"chain", "dynamic", "aligned", "busy", "recursive", "callback", "thread"} {
				t.Run(kind, func(t *testing.T) {
					s := stop(t, prog, kind)
					u := New(s.p)
					u.SetMappings(s.maps)
					frames, complete := u.Stack(s.regs)
					if !complete {
						t.Error("the walk ended before the first frame")
					}
					if got, want := s.names(frames, false), chains[kind]; !strings.HasPrefix(got+" ", want+" ") {
						t.Errorf("the frames are of %s, want %s", got, want)
					}
				})
			}
		})
	}
}
