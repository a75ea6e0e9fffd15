package cli

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// costs reads a file in callgrind's format: executions of each instruction of
// one object, all parts together. Lines after calls= and jumps are no costs.
func costs(t *testing.T, file, object string) map[uint64]uint64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sums, objects, own, skip := map[uint64]uint64{}, map[string]string{}, false, false
	ob := regexp.MustCompile(`^(c?)ob=(\(\d+\))? ?(.*)`)
	for sc := bufio.NewScanner(f); sc.Scan(); {
		l := sc.Text()
		if m := ob.FindStringSubmatch(l); m != nil {
			if m[3] != "" {
				objects[m[2]] = m[3]
			}
			if m[1] == "" {
				own = filepath.Base(objects[m[2]]) == object
			}
			continue
		}
		if strings.HasPrefix(l, "calls=") || strings.HasPrefix(l, "jump=") || strings.HasPrefix(l, "jcnd=") {
			skip = true
			continue
		}
		if !strings.HasPrefix(l, "0x") {
			continue
		}
		if skip {
			skip = false
			continue
		}
		w := strings.Fields(l)
		at, err := strconv.ParseUint(w[0][2:], 16, 64)
		if err != nil || len(w) != 3 {
			t.Fatalf("%s: %q", file, l)
		}
		n, err := strconv.ParseUint(w[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if own {
			sums[at] += n
		}
	}
	return sums
}

// Our file in callgrind's format says of every instruction what callgrind's says.
func TestCallgrindFileEqualsCallgrind(t *testing.T) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	b := realBench(t, 4)
	if err := b.cc.Build(context.Background(), b.dir, "tree", "tree"); err != nil {
		t.Fatal(err)
	}
	program, ours, theirs := filepath.Join(b.dir, "tree"), filepath.Join(b.dir, "callgrind.out.ours"), filepath.Join(b.dir, "callgrind.out.theirs")
	if _, stderr, status := skewlens("profile", "--format", "callgrind", "-o", ours, "--", program, "4", "1"); status != 0 {
		t.Fatal(stderr)
	}
	cmd := exec.Command(valgrind, "--tool=callgrind", "--callgrind-out-file="+theirs, "--dump-instr=yes", "--skip-plt=no", "--compress-pos=no", program, "4", "1")
	cmd.Env = append(os.Environ(), "LD_BIND_NOW=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, want := costs(t, ours, "tree"), costs(t, theirs, "tree")
	if len(got) < 150 {
		t.Errorf("only %d instructions", len(got))
	}
	for at, n := range got {
		if want[at] != n {
			t.Errorf("%#x was executed %d times, callgrind says %d", at, n, want[at])
		}
	}
}
