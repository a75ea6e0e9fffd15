package lime

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// Two lines have the same number where all that says which they are is the same, up to the
// first function that threads begin in.
func TestNames(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	frame := func() profile.Frame {
		return profile.Frame{File: fmt.Sprint("/", r.IntN(2)), Line: 1 + r.IntN(2), Column: r.IntN(2), Function: []string{"", "f", "g"}[r.IntN(3)]}
	}
	bodies := map[string]bool{"g": true}
	said := func(l *profile.Location, inlined bool) string {
		text := func(f profile.Frame) string { return fmt.Sprintf("%q %d %q;", f.File, f.Line, f.Function) }
		all := []string{text(l.Frame)}
		for i, in := 0, l.Function; inlined && i < len(l.InlinedAt) && !bodies[in]; i++ {
			in = l.InlinedAt[i].Function
			all = append(all, text(l.InlinedAt[i]))
		}
		return strings.Join(all, "")
	}
	for _, inlined := range []bool{false, true} {
		x := newNames(bodies, 0)
		numbers, names, starts := map[string]int32{}, map[int32]string{}, map[int32]string{}
		for range 20_000 {
			l := profile.Location{Frame: frame()}
			for range r.IntN(4) {
				l.InlinedAt = append(l.InlinedAt, frame())
			}
			want, n := said(&l, inlined), int32(0)
			if n, _ = x.line(&l); inlined {
				_, n = x.line(&l)
			}
			if n <= 0 || numbers[want] != 0 && numbers[want] != n || names[n] != "" && names[n] != want {
				t.Fatalf("%s has number %d, which is that of %s; before it had %d", want, n, names[n], numbers[want])
			}
			numbers[want], names[n] = n, want
			start := x.pair(int32(l.Column), n)
			want = fmt.Sprint(l.Column, want)
			if starts[start] != "" && starts[start] != want {
				t.Fatalf("%s has the number of %s", want, starts[start])
			}
			starts[start] = want
		}
		if len(names) < 12 {
			t.Errorf("only %d lines", len(names))
		}
	}
}

// The first with a name stands for all that have it.
func TestStandFor(t *testing.T) {
	x := newNames(nil, 0)
	a, b := x.pair(1, 2), x.pair(2, 1)
	of := []profile.BlockID{0, 1, 2, 3, 4, 5}
	x.standFor(of, []int32{0, b, a, a, 0, b})
	if fmt.Sprint(of) != "[0 1 2 2 4 1]" {
		t.Error(of)
	}
}
