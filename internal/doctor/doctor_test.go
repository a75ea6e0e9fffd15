package doctor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whether this machine allows something is not for the test to say, only that
// every check says what it found, and how to fix what is not as it should be.
func TestMachine(t *testing.T) {
	all := []string{}
	for _, f := range Machine() {
		all = append(all, f.Text)
		if !f.OK && f.Fix == "" {
			t.Errorf("no fix for %q", f.Text)
		}
		if f.Needed && !strings.HasPrefix(f.Text, "system") && !strings.HasPrefix(f.Text, "ptrace") {
			t.Errorf("the native backend does not need %q", f.Text)
		}
	}
	for _, want := range []string{"system: linux on amd64", "CPU: ", "FSGSBASE", "time stamp counter", "ptrace: a child can", "perf events", "--backend perf: ", "C compiler: ", "valgrind: "} {
		if !strings.Contains("\n"+strings.Join(all, "\n"), "\n"+want) {
			t.Errorf("nothing is said about %q", want)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		last Finding
		able bool
		want string
	}{
		{Finding{OK: true, Text: "a", Fix: "f", Needed: true}, true, "✓ a\n"},
		{Finding{Text: "b", Fix: "f"}, true, "✗ b\n  → f\n"},
		{Finding{Text: "c", Needed: true}, false, "✗ c\n"},
	} {
		var b bytes.Buffer
		able := Write(&b, []Finding{{OK: true, Text: "first"}, c.last})
		if able != c.able || b.String() != "✓ first\n"+c.want {
			t.Errorf("%+v: able %v, %q", c.last, able, b.String())
		}
	}
}

// machine is one of these files.
type machine map[string]string

func (m machine) read(name string) ([]byte, error) {
	text, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// aux is an auxiliary vector of types and values.
func aux(words ...uint64) string {
	b := []byte{}
	for _, w := range words {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return string(b)
}

func TestOfOtherMachines(t *testing.T) {
	cpuinfo := "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu %s\n\nprocessor\t: 1\nmodel name\t: Another\nflags\t\t: constant_tsc nonstop_tsc\n"
	good := machine{
		"/proc/cpuinfo":                        strings.Replace(cpuinfo, "%s", "constant_tsc nonstop_tsc", 1),
		"/proc/self/auxv":                      aux(16, 1, atHWCap2, 2, 0, 0),
		"/proc/sys/kernel/osrelease":           "6.1.0-9\n",
		"/proc/sys/kernel/perf_event_paranoid": "0\n",
	}
	bad := machine{
		"/proc/cpuinfo":                        strings.Replace(cpuinfo, "%s", "constant_tsc", 1),
		"/proc/self/auxv":                      aux(16, 2, atHWCap2, 1, 0, 0),
		"/proc/sys/kernel/perf_event_paranoid": "3\n",
	}
	user := func(r readFile) Finding { return paranoid(r, false) }
	root := func(r readFile) Finding { return paranoid(r, true) }
	for _, c := range []struct {
		on    machine
		check func(readFile) Finding
		ok    bool
		text  string
	}{
		{good, system, true, "kernel 6.1.0-9"}, {bad, system, true, "kernel unknown"},
		{good, cpu, true, "CPU: Some CPU"}, {machine{}, cpu, true, "CPU: unknown"},
		{good, timeStampCounter, true, ""}, {bad, timeStampCounter, false, ""}, {machine{}, timeStampCounter, false, ""},
		{good, fsgsbase, true, ""}, {bad, fsgsbase, false, ""}, {machine{}, fsgsbase, false, "file does not exist"},
		{good, user, true, "is 0"}, {bad, user, false, "is 3"}, {bad, root, true, "is 3"}, {machine{}, root, false, "this kernel has none"},
	} {
		if f := c.check(c.on.read); f.OK != c.ok || !strings.Contains(f.Text, c.text) {
			t.Errorf("%v %q, want %v and %q", f.OK, f.Text, c.ok, c.text)
		}
	}
	refused := errors.New("not permitted")
	for _, c := range []struct {
		found Finding
		ok    bool
		text  string
	}{
		{tracing(nil), true, "can be traced"}, {tracing(refused), false, "cannot be traced: not permitted"},
		{counters([]string{"task-clock", "cycles"}, nil, true, nil), true, "task-clock, cycles; of known work what is known"},
		{counters([]string{"task-clock"}, []string{"cycles: none: x"}, false, nil), false, "counts task-clock"},
		{counters(nil, nil, false, refused), false, "not permitted"},
	} {
		if c.found.OK != c.ok || !strings.Contains(c.found.Text, c.text) || !c.ok && c.found.Fix == "" {
			t.Errorf("%+v, want %v and %q", c.found, c.ok, c.text)
		}
	}
}

func TestOnlyATracedChildCanBeChanged(t *testing.T) {
	if err := tryChild(os.Getpid()); err == nil || !strings.HasPrefix(err.Error(), "read registers: ") {
		t.Errorf("this process traces itself: %v", err)
	}
}

func TestTools(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("CC", "")
	if f := compiler(); f.OK || !strings.Contains(f.Fix, "apt install gcc") {
		t.Errorf("%+v", f)
	}
	if f := valgrind(); f.OK || !strings.Contains(f.Fix, "apt install valgrind") {
		t.Errorf("%+v", f)
	}
	for _, n := range []string{"gcc", "valgrind"} {
		if err := os.WriteFile(filepath.Join(dir, n), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if f := compiler(); !f.OK || f.Text != "C compiler: gcc" {
		t.Errorf("%+v", f)
	}
	if f := valgrind(); !f.OK || f.Text != "valgrind: "+filepath.Join(dir, "valgrind") {
		t.Errorf("%+v", f)
	}
}

func TestProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if f := Program(self); len(f) != 2 || !f[0].OK || !strings.HasSuffix(f[0].Text, "a program for X86_64, 64-bit") {
		t.Errorf("this test: %+v", f)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if f := Program(script); len(f) != 1 || f[0].OK || !f[0].Needed || !strings.Contains(f[0].Fix, "not a script that starts it") {
		t.Errorf("a script: %+v", f)
	}
}

// A program is built as users build one, and stripped as distributions do.
func TestLineInformation(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "p.c")
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags string
		ok    bool
		text  string
	}{
		{"-g", true, "has line information"},
		{"-s -Wl,--build-id", false, "has no line information of its own"},
		{"-s -Wl,--build-id=none", false, "function+offset"},
	} {
		program := filepath.Join(dir, "p")
		if out, err := exec.Command(gcc, append(strings.Fields(c.flags), source, "-o", program)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if f := Program(program)[1]; f.OK != c.ok || !strings.Contains(f.Text, c.text) {
			t.Errorf("built with %s: %v %q, want %v and %q", c.flags, f.OK, f.Text, c.ok, c.text)
		}
	}
}
