package proctest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// Callgrind runs a program under callgrind and returns, per thread in order of
// birth, how often each instruction of the program's own code was executed:
// link-time address → count. entry is any instruction's link-time address that
// surely runs, by which the load address is found.
func Callgrind(t *testing.T, entry uint64, prog string, args ...string) []map[uint64]uint64 {
	t.Helper()
	Need(t, "valgrind")
	dir := t.TempDir()
	cmd := exec.Command("valgrind", append([]string{"--tool=callgrind", "--skip-plt=no", "--separate-threads=yes", "--dump-instr=yes",
		"--log-file=" + filepath.Join(dir, "log"), "--compress-pos=no", "--compress-strings=no", "--callgrind-out-file=" + filepath.Join(dir, "out"), prog}, args...)...)
	cmd.Env = append(os.Environ(), "LD_BIND_NOW=1")
	if err := cmd.Run(); err != nil { // maybe the program's own exit code
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		t.Logf("callgrind: %v\n%s", err, log)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "out-*"))
	sort.Strings(files)
	if len(files) == 0 {
		t.Fatalf("callgrind left no counts for %s", prog)
	}
	var all []map[uint64]uint64
	for _, f := range files {
		all = append(all, readCallgrind(t, f, filepath.Base(prog)))
	}
	rebase(t, all, entry)
	return all
}

// rebase subtracts the address that valgrind loaded the program at: a whole
// number of pages, 0 for programs with a fixed address.
func rebase(t *testing.T, all []map[uint64]uint64, entry uint64) {
	for _, bias := range []uint64{0, 0x108000, 0x400000, 0x100000, 0x4000000} {
		if _, ok := all[0][entry+bias]; ok {
			for i, m := range all {
				n := make(map[uint64]uint64, len(m))
				for a, c := range m {
					n[a-bias] = c
				}
				all[i] = n
			}
			return
		}
	}
	t.Fatalf("callgrind's load address is unknown")
}

func readCallgrind(t *testing.T, file, object string) map[uint64]uint64 {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := map[uint64]uint64{}
	ours, skip := false, false
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		l := s.Text()
		switch {
		case strings.HasPrefix(l, "ob="):
			ours = filepath.Base(l) == object || l == "ob="+object
		case strings.HasPrefix(l, "calls="):
			skip = true // the line behind it is the callee's inclusive cost
		case strings.HasPrefix(l, "0x"):
			if skip {
				skip = false
				break
			}
			w := strings.Fields(l)
			if !ours || len(w) < 3 {
				break
			}
			a, err1 := strconv.ParseUint(w[0][2:], 16, 64)
			n, err2 := strconv.ParseUint(w[2], 10, 64)
			if err1 != nil || err2 != nil {
				t.Fatalf("%s: line not understood: %s", file, l)
			}
			m[a] += n
		}
	}
	return m
}

// Describe prints the first differences of two counts.
func Describe(diff map[uint64][2]uint64) string {
	var as []uint64
	for a := range diff {
		as = append(as, a)
	}
	sort.Slice(as, func(i, j int) bool { return as[i] < as[j] })
	var b strings.Builder
	for i, a := range as {
		if i == 8 {
			fmt.Fprintf(&b, " … %d in all", len(as))
			break
		}
		fmt.Fprintf(&b, " %#x: %d, callgrind %d;", a, diff[a][0], diff[a][1])
	}
	return b.String()
}
