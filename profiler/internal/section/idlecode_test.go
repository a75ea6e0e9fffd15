package section

import "testing"

// TestIdleCodeThatIsNotWaitedIn: code that threads go through again and again without a wait
// is of no interest long before code in which some wait, however long a passing takes.
func TestIdleCodeThatIsNotWaitedIn(t *testing.T) {
	for _, c := range []struct {
		name  string
		ticks func(i int) uint64
		waits func(i int) bool
		after uint64
		most  int
	}{
		{"never", func(i int) uint64 { return 1000 + uint64(i)%7*300 }, func(int) bool { return false }, 15_000, calmTrial},
		{"seldom off their cores", func(i int) uint64 { return 1000 + uint64(i)%600/599*50_000 }, func(int) bool { return false }, 15_000, calmTrial},
		{"spinning, at times", func(i int) uint64 { return 1000 + uint64(i)%10/9*50_000 }, func(int) bool { return false }, 15_000, idleTrial},
		{"blocked, at times", func(int) uint64 { return 1000 }, func(i int) bool { return i%10 == 9 }, 15_000, idleTrial},
		{"seldom passed", func(int) uint64 { return 1000 }, func(i int) bool { return i%10 == 9 }, 17_000, mostTrial},
	} {
		codes, passed := idleCodes{all: map[uint64]*idleCode{}}, 0
		for i := 0; passed == 0 && i < 2*mostTrial; i++ {
			if codes.pass(1, c.ticks(i), c.after, c.waits(i)) {
				passed = i
			}
		}
		if passed != c.most {
			t.Errorf("%s: given up after %d passings, want %d", c.name, passed, c.most)
		}
	}
}
