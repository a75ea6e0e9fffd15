package profiler_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestSanitizers: programs that check themselves run as they do alone. With
// LeakSanitizer they are refused in one line, unless it is turned off.
func TestSanitizers(t *testing.T) {
	src := filepath.Join("testdata", "early.c")
	off := []string{"ASAN_OPTIONS=detect_leaks=0", "LSAN_OPTIONS=verbosity=0:detect_leaks=0"}
	for _, c := range []struct {
		compiler, kind, mend string
		env                  []string
	}{
		{"gcc", "address", "ASAN_OPTIONS=detect_leaks=0", off[:1]},
		{"gcc", "address", "ASAN_OPTIONS=detect_leaks=0", off[1:]},
		{"gcc", "leak", "LSAN_OPTIONS=detect_leaks=0", off[1:]},
		{"gcc", "undefined", "", nil},
		{"gcc", "thread", "", nil},
		{"clang", "address", "ASAN_OPTIONS=detect_leaks=0", off[:1]},
		{"clang", "leak", "LSAN_OPTIONS=detect_leaks=0", off[1:]},
		{"clang", "thread", "", nil},
		{"clang", "memory", "", nil},
	} {
		t.Run(c.compiler+"/"+c.kind, func(t *testing.T) {
			proctest.Need(t, c.compiler)
			prog := filepath.Join(t.TempDir(), "prog")
			build := exec.Command(c.compiler, "-O1", "-g", "-pthread", "-fsanitize="+c.kind, src, "-o", prog)
			if msg, err := build.CombinedOutput(); err != nil && strings.Contains(string(msg), "cannot find") {
				t.Skipf("the compiler has no runtime of this sanitizer: %s", msg)
			} else if err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			if c.mend != "" {
				if _, _, err := ran(t, profiler.Config{Path: prog}); err == nil || !strings.Contains(err.Error(), c.mend) {
					t.Errorf("error %v, want %s in it", err, c.mend)
				}
			}
			env := append(os.Environ(), c.env...)
			alone := exec.Command(prog)
			alone.Env = env
			want, _ := alone.CombinedOutput()
			out, p, err := ran(t, profiler.Config{Path: prog, Env: env})
			if err != nil {
				t.Fatal(err)
			}
			if out != string(want) || p.Run.ExitCode != alone.ProcessState.ExitCode() {
				t.Errorf("exit code %d, wrote\n%s\nalone %d and\n%s", p.Run.ExitCode, out, alone.ProcessState.ExitCode(), want)
			}
		})
	}
}
