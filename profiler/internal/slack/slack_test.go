package slack

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func init() { runtime.LockOSThread() } // so that no test runs on the first thread

// TestRelax: the runtime's monitor, which sleeps and does nothing else, may sleep longer;
// what is started may not, though the monitor has made who starts it.
func TestRelax(t *testing.T) {
	read := func(file string) string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Skipf("needs root: %v", err)
		}
		return strings.TrimSpace(string(b))
	}
	first := read(of("self"))
	Relax()
	tid := monitor()
	if got := read(of(tid)); got != laxity {
		t.Errorf("the monitor, thread %s: %s ns, want %s", tid, got, laxity)
	}
	const nanosleep, futex = "35 ", "202 " // in deep sleep it waits for the others
	call, err := os.ReadFile("/proc/self/task/" + tid + "/syscall")
	if s := string(call); err == nil && !strings.HasPrefix(s, nanosleep) && !strings.HasPrefix(s, futex) && !strings.HasPrefix(s, "running") {
		t.Errorf("the monitor is at %s", s)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := os.WriteFile(of(strconv.Itoa(syscall.Gettid())), []byte(laxity), 0); err != nil {
		t.Fatal(err)
	}
	Own()
	out, err := exec.Command("cat", "/proc/self/timerslack_ns").Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != first {
		t.Errorf("a program that is started has %s ns, want %s (%v)", got, first, err)
	}
}
