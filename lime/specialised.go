package lime

import (
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// specialisedIn is in the names of functions that gcc made of one for arguments that are
// the same at some calls, each for others.
const specialisedIn = ".constprop."

// madeOf is the name of what a function was made of, where the compiler makes several of
// one: for arguments, of a template, or of what is generic in Go or Rust (whose older
// names have a hash for what it is made for).
func madeOf(name string) (of string, made bool) {
	if of, _, made = strings.Cut(name, specialisedIn); made {
		return of, true
	}
	if i := len(name) - len("17h0123456789abcdefE"); i > 0 && strings.HasPrefix(name, "_ZN") && strings.HasPrefix(name[i:], "17h") && strings.HasSuffix(name, "E") {
		return name[:i], true
	}
	if of, is := strings.CutPrefix(name, "_Z"); is {
		return templateOf(of)
	}
	of, _, made = strings.Cut(name, "[")
	return of, made
}

// templateOf is what stands in a mangled name before the arguments of a template: I behind
// the name of what is one, which has its length before it.
func templateOf(name string) (of string, made bool) {
	at := 0
	for at < len(name) && strings.IndexByte("NLKVSt", name[at]) >= 0 {
		at++
	}
	for at < len(name) && name[at] >= '0' && name[at] <= '9' {
		n := 0
		for ; at < len(name) && name[at] >= '0' && name[at] <= '9' && n < len(name); at++ {
			n = 10*n + int(name[at]-'0')
		}
		if at += n; at < len(name) && name[at] == 'I' {
			return name[:at], true
		}
	}
	return "", false
}

// specialised reports whether a leader is a loop that stands in several functions that
// were made of one, for what their callers pass or of a template, and goes round as often
// each time that it is come to, in each by itself: who goes there decides, as with calls
// that cost differently (rule 16).
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
		name, made := madeOf(p.Functions[p.Blocks[v].Function].Name)
		taken, inflow := f.table.vector(), f.costs.inflow(v)
		if !made || base != "" && name != base || inflow == nil || f.addTaken(taken, v, x.out().to) && !alike(taken, inflow, siteSame) {
			return false
		}
		base, in[p.Blocks[v].Function] = name, true
	}
	return len(in) > 1
}
