package garbage

import (
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// TestHuge: what is allocated from then on lies in huge pages. The first test: others have
// memory come back, and that is used before.
func TestHuge(t *testing.T) {
	if mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || strings.Contains(string(mode), "[never]") {
		t.Skip("there are no huge pages here")
	}
	defer Pace(100)() // else the runtime may have used the room by then
	Huge()
	all := make([][]byte, 64)
	for i := range all {
		all[i] = make([]byte, 256<<10)
		for k := range all[i] {
			all[i][k] = 1
		}
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^AnonHugePages:\s+[1-9]`).Match(smaps) {
		t.Error("no huge page is in use")
	}
	if len(all[0]) == 0 {
		t.Error("the compiler knows that nothing is used")
	}
}

// percent reads what is set.
func percent() int {
	x := debug.SetGCPercent(100)
	debug.SetGCPercent(x)
	return x
}

// TestPace: what is in use decides, the last pace that has not ended counts, and
// behind the last one all is as it was.
func TestPace(t *testing.T) {
	if percent() != usual {
		t.Skip("GOGC is set")
	}
	end := Pace(100)
	if x := percent(); x < 1000 {
		t.Errorf("%d %% with an empty heap", x)
	}
	held := make([]byte, 512<<20)
	for i := 0; i < 100 && percent() > 100; i++ { // the finalizer has a goroutine of its own
		runtime.GC()
	}
	if x := percent(); x != 100 {
		t.Errorf("%d %% with 512 MB in use, want 100", x)
	}
	inner := Pace(40)
	if x := percent(); x != 40 {
		t.Errorf("%d %% within, want 40", x)
	}
	inner()
	if x := percent(); x != 100 {
		t.Errorf("%d %% behind that, want 100", x)
	}
	runtime.KeepAlive(held)
	end()
	if x := percent(); x != usual {
		t.Errorf("%d %% at the end, want %d", x, usual)
	}
}

// TestOf: up to a size nothing is looked for.
func TestOf(t *testing.T) {
	for _, c := range []struct{ over, bytes, want int }{{40, 0, 3100}, {40, 64 << 20, 100}, {40, 128 << 20, 40}, {100, 1 << 30, 100}} {
		if got := of(c.over, c.bytes); got != c.want {
			t.Errorf("of(%d, %d) = %d, want %d", c.over, c.bytes, got, c.want)
		}
	}
}
