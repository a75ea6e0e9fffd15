package perf

import (
	"strings"
	"testing"
)

// TestBelievable: counters are believed that count what is known, and no others.
func TestBelievable(t *testing.T) {
	const n = knownLoops
	for _, c := range []struct {
		instructions, cycles [2]float64
		want                 string
	}{
		{[2]float64{2*n + 900, 4*n + 950}, [2]float64{n, 2 * n}, ""},
		{[2]float64{}, [2]float64{}, "stands still"},
		{[2]float64{2 * n, 2 * n}, [2]float64{n, 2 * n}, "4194304 instructions are counted as 2097152"},
		{[2]float64{3 * n, 6 * n}, [2]float64{n, 2 * n}, "2097152 instructions are counted as 3145728"},
		{[2]float64{2 * n, 4 * n}, [2]float64{5, 10}, "1048576 rounds of a loop are counted as 5 cycles"},
		{[2]float64{2 * n, 4 * n}, [2]float64{n, 300 * n}, "2097152 rounds of a loop are counted as 314572800 cycles"},
	} {
		said(t, believable(c.instructions, c.cycles), c.want, c.instructions, c.cycles)
	}
	for _, c := range []struct {
		far, near float64
		want      string
	}{
		{knownLines, 100, ""},
		{1.5 * knownLines, 0.01 * knownLines, ""},
		{0, 0, "stands still"},
		{1000, 0, "counted as 1000 misses"},
		{20 * knownLines, 0, "misses"},
		{knownLines, knownLines, "in one line"},
	} {
		said(t, believableMisses(c.far, c.near), c.want, c.far, c.near)
	}
	at := func(pc uint64, n int) (list []uint64) {
		for range n {
			list = append(list, 0x1000+pc)
		}
		return list
	}
	for _, c := range []struct {
		pcs  []uint64
		want string
	}{
		{append(at(loadAt, 95), at(loadAt+3, 5)...), ""},
		{append(at(loadAt, 95), at(2*walkEnd, 500)...), ""}, // of others'
		{append(at(loadAt, 50), at(loadAt+3, 50)...), "50 of 100 samples are not at the instruction"},
		{at(loadAt+3, 100), "not at the instruction"},
		{at(loadAt, 3), "there were 3 samples"},
	} {
		said(t, believablePlaces(c.pcs, 0x1000), c.want, len(c.pcs))
	}
}

func said(t *testing.T, err error, want string, of ...any) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%v: %v, want %q", of, err, want)
	}
}
