package profiler

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

const selected = `subroutine share(kind)
  if (kind > 5) return
  select case (kind)
  case (0)
    call few()
  case (1)
    outer: select case (kind + other)
    case (7)
      call more()
    case default
      call none()
    end select outer
  case default
    call many()
  end select
  call few()
end subroutine
`

// TestSelects: a test that leads to a line before its own, as those of a select do, stands
// where that begins; others stay, and so do all where there is no source.
func TestSelects(t *testing.T) {
	for _, c := range []struct {
		name           string
		file           string
		line, arm      int
		want           int
		inlined, known bool
	}{
		{name: "outer", file: "a.f90", line: 14, arm: 5, want: 3, known: true},
		{name: "inner", file: "a.F90", line: 11, arm: 9, want: 7, known: true},
		{name: "an arm before the construct", file: "a.f90", line: 14, arm: 2, want: 14, known: true},
		{name: "what follows", file: "a.f90", line: 14, arm: 16, want: 14, known: true},
		{name: "behind it", file: "a.f90", line: 16, arm: 5, want: 16, known: true},
		{name: "the test itself", file: "a.f90", line: 7, arm: 5, want: 7, known: true},
		{name: "in C", file: "a.c", line: 14, arm: 5, want: 14, known: true},
		{name: "no source", file: "a.f90", line: 14, arm: 5, want: 14},
		{name: "the arm is inlined code", file: "a.f90", line: 14, arm: 5, want: 3, inlined: true, known: true},
	} {
		p := &profile.Profile{}
		p.Graph.Blocks = []profile.Block{{Start: 0x10, Last: 0x18, End: 0x20}, {Start: 0x20, Last: 0x28, End: 0x30}}
		p.Graph.Edges = []profile.Edge{{From: 0, To: 1, Kind: profile.Taken, Count: profile.NoEvent}}
		arm := profile.Location{Address: 0x20, Frame: profile.Frame{File: c.file, Line: c.arm, Function: "share"}}
		if c.inlined {
			arm.InlinedAt = []profile.Frame{arm.Frame}
			arm.Frame = profile.Frame{File: c.file, Line: 99, Function: "few"}
		}
		p.Locations = []profile.Location{
			{Address: 0x18, Frame: profile.Frame{File: c.file, Line: c.line, Column: 24, Function: "share"}}, arm}
		placeSelects(p, func(string) []string {
			if !c.known {
				return nil
			}
			return strings.Split(selected, "\n")
		})
		if got := p.Locations[0].Line; got != c.want {
			t.Errorf("%s: line %d, want %d", c.name, got, c.want)
		}
	}
}
