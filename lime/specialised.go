package lime

import (
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// specialisedIn is in the names of functions that gcc made of one for arguments that are
// the same at some calls, each for others.
const specialisedIn = ".constprop."

// specialised reports whether a leader is a loop that stands in several functions that
// were made of one for what their callers pass, and goes round as often each time that it
// is come to, in each by itself: who goes there decides, as with calls that cost
// differently (rule 16).
func (f *finder) specialised(x *leader) bool {
	if x.kind() != Loop {
		return false
	}
	p := &f.graph.p.Graph
	in := map[profile.FunctionID]bool{}
	base := ""
	for _, b := range f.copiesOf(x.decision) {
		v := profile.BlockID(b)
		if f.costs.at[v] < 0 {
			continue
		}
		name, _, made := strings.Cut(p.Functions[p.Blocks[v].Function].Name, specialisedIn)
		taken, inflow := f.table.vector(), f.costs.inflow(v)
		if !made || base != "" && name != base || inflow == nil || f.addTaken(taken, v, x.out().to) && !alike(taken, inflow, siteSame) {
			return false
		}
		base, in[p.Blocks[v].Function] = name, true
	}
	return len(in) > 1
}
