package garbage

import (
	"runtime"
	"runtime/debug"
	"testing"
)

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
