package timed

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// shell is a job of a shell script.
func shell(script string) Job {
	return Job{Path: "/bin/sh", Words: []string{"sh", "-c", script}, Env: os.Environ(), Files: [3]uintptr{0, 1, 2}}
}

func run1(t *testing.T, j Job) Result {
	t.Helper()
	r, err := Run(j)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// spin computes for a while, in the shell itself.
const spin = `i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done`

func TestTimesAreKnown(t *testing.T) {
	r := run1(t, shell(spin))
	if r.CPU <= 0 || r.Wall <= 0 || r.Exit != 0 || r.Signal != 0 || r.Left {
		t.Errorf("%+v", r)
	}
	if r.Seen < 0.9 { // it has one thread, which is read when it has ended
		t.Errorf("only %.2f of the CPU time is seen in schedstat: %+v", r.Seen, r)
	}
	if r.CPU > r.Wall+r.Wall/20 {
		t.Errorf("one thread used %v in %v", r.CPU, r.Wall)
	}
}

// CPU time is of children, too, that were waited for.
func TestChildrenAreCounted(t *testing.T) {
	one := run1(t, shell(spin))
	both := run1(t, shell("("+spin+"); ("+spin+"); exit 0"))
	if both.CPU < one.CPU*5/4 {
		t.Errorf("two children used %v, one shell %v", both.CPU, one.CPU)
	}
}

// Two threads on one core wait for each other, and that is seen.
func TestWaitingForCores(t *testing.T) {
	cores, whole, err := Cores()
	if err != nil || whole < 1 || whole > len(cores) {
		t.Fatal(cores, whole, err)
	}
	j := shell("(" + spin + ") & (" + spin + ") & wait")
	j.Cores = cores[:1]
	r := run1(t, j)
	if r.Queue < r.CPU/5 {
		t.Errorf("two processes on one core used %v and waited %v", r.CPU, r.Queue)
	}
	after, _, err := Cores()
	if err != nil || !slices.Equal(after, cores) {
		t.Errorf("then this process may use cores %v, before %v: %v", after, cores, err)
	}
}

func TestHowItEnds(t *testing.T) {
	if r := run1(t, shell("exit 3")); r.Exit != 3 || r.Signal != 0 {
		t.Errorf("exit 3: %+v", r)
	}
	if r := run1(t, shell("kill -SEGV $$")); r.Signal != syscall.SIGSEGV || r.Exit != 0 {
		t.Errorf("SIGSEGV: %+v", r)
	}
}

func TestWhatIsLeft(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	j := shell("(echo $(exec sh -c 'echo $PPID'); exec tail -f /dev/null) & " + spin)
	j.Files[1] = f.Fd()
	r := run1(t, j)
	if !r.Left {
		t.Errorf("a child that still runs is not seen: %+v", r)
	}
	said, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	for _, b := range strings.TrimSpace(string(said)) {
		pid = 10*pid + int(b-'0')
	}
	if pid > 1 {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestBeginAndEnd(t *testing.T) {
	before, began, ended := 0, 0, 0
	j := shell("while :; do :; done")
	j.Began = func(pid int) { began = pid; syscall.Kill(pid, syscall.SIGKILL) }
	j.Before = func() func(int) { return func(pid int) { before = pid } }
	j.Ended = func() {
		if syscall.Kill(began, 0) != nil {
			t.Error("its pid is not its own when it has ended")
		}
		ended++
	}
	if r := run1(t, j); r.Signal != syscall.SIGKILL || ended != 1 || before != began {
		t.Errorf("%+v, ended %d times", r, ended)
	}
}

func TestWhatCannotBeRun(t *testing.T) {
	text := t.TempDir() + "/text"
	if err := os.WriteFile(text, []byte("no program\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	lost := t.TempDir() + "/lost"
	if err := os.WriteFile(lost, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for want, j := range map[string]Job{
		"sh " + text:        {Path: text, Words: []string{text}},
		"interpreter":       {Path: lost, Words: []string{lost}},
		"permission denied": {Path: t.TempDir(), Words: []string{"x"}},
		"without --pin":     {Path: "/bin/true", Words: []string{"true"}, Cores: []int{1023}},
	} {
		if _, err := Run(j); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A thread's number can be given again while the program runs.
func TestNumbersThatAreUsedAgain(t *testing.T) {
	l := &looks{threads: map[int]waited{}}
	for _, line := range []string{"100 50 3\n", "200 60 4\n", "10 5 1\n", "not numbers"} {
		l.note(7, []byte(line))
	}
	if l.gone.cpu != 200 || l.gone.queue != 60 || l.threads[7].cpu != 10 {
		t.Errorf("%+v", l)
	}
	if Runs(1<<30) || !Runs(os.Getpid()) {
		t.Error("this process does not run, or one does that cannot be")
	}
	if time.Duration(l.threads[7].queue) != 5 {
		t.Error(l.threads[7])
	}
}

// TestWatched: a process with a child, which wait for input: both are seen, they take
// turns on one core when they are told to, and what they waited for cores is told.
func TestWatched(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "cat; :")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := Watch(cmd.Process.Pid)
	for len(Descendants(cmd.Process.Pid)) == 0 {
		runtime.Gosched()
	}
	if err := Turns(cmd.Process.Pid); err != nil {
		t.Error(err)
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(cmd.Process.Pid, &set); err != nil || set.Count() != 1 {
		t.Errorf("it may use %d cores, %v", set.Count(), err)
	}
	in.Close()
	if cpu, queue := end(); cpu < 0 || queue < 0 {
		t.Errorf("%v, %v", cpu, queue)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if !Runs(os.Getpid()) || Runs(cmd.Process.Pid) {
		t.Error("this process runs, and that one does not")
	}
}

// TestLimit: what runs too long is killed, with what it has started.
func TestLimit(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close() // nothing comes, and no end
	j := shell("cat; :")
	j.Files[0], j.Limit, j.Turns = in.Fd(), time.Millisecond, true
	if r := run1(t, j); !r.Late || r.Signal != syscall.SIGKILL {
		t.Errorf("%+v", r)
	}
}
