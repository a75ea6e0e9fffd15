package tracee

import (
	"os"
	"strings"
	"testing"
)

// TestRelax: the runtime's monitor, which sleeps and does nothing else, may sleep longer;
// no other thread may, nor what is started.
func TestRelax(t *testing.T) {
	slack := func(tid string) string {
		b, err := os.ReadFile(slackOf(tid))
		if err != nil {
			t.Skipf("needs root: %v", err)
		}
		return strings.TrimSpace(string(b))
	}
	others := slack("self")
	relax()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	of := monitor()
	for _, x := range tasks {
		want := others
		if x.Name() == of {
			want = laxity
		}
		if got := slack(x.Name()); got != want {
			t.Errorf("thread %s: %s ns, want %s (the monitor is %s)", x.Name(), got, want, of)
		}
	}
	const nanosleep, futex = "35 ", "202 " // in deep sleep it waits for the others
	call, err := os.ReadFile("/proc/self/task/" + of + "/syscall")
	if s := string(call); err == nil && !strings.HasPrefix(s, nanosleep) && !strings.HasPrefix(s, futex) && !strings.HasPrefix(s, "running") {
		t.Errorf("the monitor is at %s", s)
	}
}
