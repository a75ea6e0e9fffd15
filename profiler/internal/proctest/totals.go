package proctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Cachegrind runs a program with a single thread, in an environment, under cachegrind
// with caches of "size,ways,line" each, and returns what it counts of all code, by its
// names of events (Dr, D1mw, DLmr, …). The first level of instructions holds all that
// the program executes, so that these take next to nothing of the last level, which
// they share with data there.
func Cachegrind(t *testing.T, d1, ll string, env []string, prog string, args ...string) map[string]uint64 {
	t.Helper()
	Need(t, "valgrind")
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("valgrind", append([]string{"--tool=cachegrind", "--cache-sim=yes", "--I1=4194304,16,64", "--D1=" + d1, "--LL=" + ll,
		"--cachegrind-out-file=" + out, prog}, args...)...)
	cmd.Env = env
	msg, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("cachegrind: %v\n%s", err, msg)
	}
	if strings.Contains(string(msg), "brk segment overflow") {
		t.Fatalf("%s: more than 8 MB of heap, and valgrind lets the allocator have the rest elsewhere than the kernel does", prog)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return readTotals(t, string(data))
}

// readTotals reads the names of events and their totals.
func readTotals(t *testing.T, text string) map[string]uint64 {
	t.Helper()
	var names []string
	totals := map[string]uint64{}
	for line := range strings.Lines(text) {
		key, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch words := strings.Fields(list); key {
		case "events":
			names = words
		case "summary":
			for i, w := range words {
				n, err := strconv.ParseUint(w, 10, 64)
				if err != nil || i >= len(names) {
					t.Fatalf("totals not understood: %q of %q", words, names)
				}
				totals[names[i]] = n
			}
		}
	}
	return totals
}
