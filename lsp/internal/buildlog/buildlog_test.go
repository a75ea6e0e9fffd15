package buildlog

import (
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

func TestBuildLog(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  Message
	}{
		{[]string{"a.c:3:4: fatal error: x.h: No such file"}, Message{"/w/a.c", 3, "x.h: No such file", protocol.DiagnosticSeverityError}},
		{[]string{"a.c:3: error: old gcc"}, Message{"/w/a.c", 3, "old gcc", protocol.DiagnosticSeverityError}},
		{[]string{"error[E0308]: mismatched types", " --> src/main.rs:2:5", "  |"}, Message{"/w/src/main.rs", 2, "mismatched types", protocol.DiagnosticSeverityError}},
		{[]string{"f.f90:10:5:", "", "   10 | x = ", "      |  1", "Error: Symbol 'x' has no type"}, Message{"/w/f.f90", 10, "Symbol 'x' has no type", protocol.DiagnosticSeverityError}},
		{[]string{"make: Entering directory '/w/sub'", "./main.go:5:2: undefined: x"}, Message{"/w/sub/main.go", 5, "undefined: x", protocol.DiagnosticSeverityError}},
		{[]string{"/usr/bin/ld: /tmp/a.o: in function `main':", "/w/a.c:19: undefined reference to `gone'"}, Message{"/w/a.c", 19, "undefined reference to `gone'", protocol.DiagnosticSeverityError}},
		{[]string{"/usr/bin/x86_64-linux-gnu-ld.gold: a.c:19: undefined reference to `gone'"}, Message{"/w/a.c", 19, "undefined reference to `gone'", protocol.DiagnosticSeverityError}},
		{[]string{"x.f90:0:1:", "Error: a place that is none", "a.c:3:4: error: x"}, Message{"/w/a.c", 3, "x", protocol.DiagnosticSeverityError}},
	} {
		b := New("/w")
		for _, l := range c.lines {
			b.Add(l)
		}
		if len(b.Messages) != 1 || b.Messages[0] != c.want {
			t.Errorf("%q: %+v, want %+v", c.lines, b.Messages, c.want)
		}
	}
}

// The end of a log says why, not that.
func TestTail(t *testing.T) {
	for _, x := range []struct{ log, want string }{
		{"cc x.c\n****\n* You must specify CLASS *\n****\nmake[1]: *** [../sys/make.common:21: config] Error 1\nmake: Leaving directory '/w'\n", "cc x.c|You must specify CLASS"},
		{"CMake Error at CMakeLists.txt:44 (message):\n  Only Release\n\n-- Configuring incomplete, errors occurred!\nSee also \"/w/CMakeOutput.log\".", "CMake Error at CMakeLists.txt:44 (message):|Only Release"},
		{"make: *** [Makefile:2: all] Error 1", "make: *** [Makefile:2: all] Error 1"},
		{"make: *** No rule to make target 'x'.  Stop.", "make: *** No rule to make target 'x'.  Stop."},
		{"CMake Error at a.cmake:39 (message):\n  Failed to clone repository: 'x'\n\ngmake: *** [Makefile:91: all] Error 2\n\nCMake Error at F.cmake:1616 (message):\n  Build step for fmt failed: 2\nCall Stack (most recent call first):\n  /m/F.cmake:1756:EVAL:2 (__populate)\n  /m/F.cmake:1970 (FetchContent_Populate)\n  CMakeLists.txt:6 (FetchContent_MakeAvailable)\n\n-- Configuring incomplete, errors occurred!", "Failed to clone repository: 'x'|CMake Error at F.cmake:1616 (message):|Build step for fmt failed: 2"},
		{"Caused by:\n  a\nCaused by:\n  b", "a|b"},
	} {
		b := New("/w")
		for _, line := range strings.Split(x.log, "\n") {
			b.Add(line)
		}
		if got := strings.Join(b.Tail, "|"); got != x.want {
			t.Errorf("%q: %q, want %q", x.log, got, x.want)
		}
	}
}

func FuzzAdd(f *testing.F) {
	f.Add("a.f90:0:1:\nError: of no place")
	f.Fuzz(func(t *testing.T, s string) {
		b := New("/w")
		for _, line := range strings.Split(s, "\n") {
			b.Add(line)
		}
		if len(b.Messages) > maxMessages || len(b.Tail) > 3 {
			t.Fatalf("%d messages and %d last lines are kept", len(b.Messages), len(b.Tail))
		}
		for _, m := range b.Messages {
			if m.Line < 1 || m.File == "" {
				t.Fatalf("message %+v", m)
			}
		}
	})
}
