package proctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// CacheMisses runs a program with a single thread under callgrind, which simulates
// caches as cachegrind does, "size,ways,line" each, and returns how often the
// program's own code, and what of the C library sets and copies memory, missed in
// the first level and in the last, and how often the program's own code accesses
// memory.
func CacheMisses(t *testing.T, d1, ll, prog string, args ...string) (first, last, accesses uint64) {
	t.Helper()
	Need(t, "valgrind")
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("valgrind", append([]string{"--tool=callgrind", "--cache-sim=yes", "--D1=" + d1, "--LL=" + ll,
		"--compress-strings=no", "--compress-pos=no", "--callgrind-out-file=" + out, prog}, args...)...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("callgrind: %v\n%s", err, msg)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var c misses
	for line := range strings.Lines(string(data)) {
		c.read(t, strings.TrimSpace(line), filepath.Base(prog))
	}
	return c.sum["D1mr"] + c.sum["D1mw"], c.sum["DLmr"] + c.sum["DLmw"], c.accesses
}

// misses reads callgrind's lines.
type misses struct {
	events             []string
	ours, memory, skip bool // what the next costs are of; skip: of a call, with all that it led to
	sum                map[string]uint64
	accesses           uint64
}

func (c *misses) read(t *testing.T, line, object string) {
	t.Helper()
	name, value, _ := strings.Cut(line, "=")
	switch {
	case strings.HasPrefix(line, "events:"):
		c.events, c.sum = strings.Fields(line)[1:], map[string]uint64{}
	case name == "ob":
		c.ours = filepath.Base(value) == object
	case name == "fn":
		c.memory = strings.Contains(value, "memset") || strings.Contains(value, "memcpy") || strings.Contains(value, "memmove")
	case name == "calls":
		c.skip = true
	case line != "" && line[0] >= '0' && line[0] <= '9':
		if (c.ours || c.memory) && !c.skip {
			c.add(t, strings.Fields(line)[1:])
		}
		c.skip = false
	}
}

func (c *misses) add(t *testing.T, costs []string) {
	t.Helper()
	for i, w := range costs {
		n, err := strconv.ParseUint(w, 10, 64)
		if err != nil {
			t.Fatalf("costs not understood: %q", costs)
		}
		c.sum[c.events[i]] += n
		if c.ours && (c.events[i] == "Dr" || c.events[i] == "Dw") {
			c.accesses += n
		}
	}
}
