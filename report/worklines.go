package report

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// WorkLine is a line and its share of the instructions of a section, of all threads
// and instances together. Code that was inlined counts where it is written.
type WorkLine struct {
	Location *Location `json:"location"`
	Share    float64   `json:"share"`
}

// Lines with less than this are left out, and more than so many of a section.
const (
	workLine  = 0.005
	workLines = 40
)

// weighed is a line, by the first of its blocks, and what these weigh together.
type weighed struct {
	weight float64
	block  profile.BlockID
	number int32
}

// blockLines are the lines of blocks. Each section asks for those of the same blocks, and
// shows few of them.
type blockLines struct {
	number []int32 // by block; 0: nobody has asked yet
	known  map[Place]int32
	at     map[profile.BlockID]Location // of those that a line is shown by
}

// lineOf is the number of a block's line.
func (b *builder) lineOf(v profile.BlockID) int32 {
	x := &b.lines
	if x.number == nil {
		*x = blockLines{make([]int32, len(b.p.Graph.Blocks)), map[Place]int32{}, map[profile.BlockID]Location{}}
	}
	if x.number[v] == 0 {
		key := lineKey(b.p, b.p.Graph.Blocks[v].Start)
		n := x.known[key]
		if n == 0 {
			n = int32(len(x.known)) + 1
			x.known[key] = n
		}
		x.number[v] = n
	}
	return x.number[v]
}

// lineAt is where a block's line is.
func (b *builder) lineAt(v profile.BlockID) Location {
	l, is := b.lines.at[v]
	if !is {
		if l = locate(b.p, b.p.Graph.Blocks[v].Start); !l.Known() && l.Function != "" {
			l.Offset, l.Address = "", ""
		}
		b.lines.at[v] = l
	}
	return l
}

// byLine adds up what blocks weigh by line, or by function where none is known; the
// heaviest first.
func (b *builder) byLine(blocks []float64) (lines []weighed) {
	at := map[int32]int{}
	for i, n := range blocks {
		if n == 0 {
			continue
		}
		x := b.lineOf(profile.BlockID(i))
		k, ok := at[x]
		if !ok {
			k = len(lines)
			at[x], lines = k, append(lines, weighed{block: profile.BlockID(i), number: x})
		}
		lines[k].weight += n
	}
	slices.SortStableFunc(lines, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	return lines
}

// lineKey is what is the same for all addresses on one's line, or in its function where no
// line is known.
func lineKey(p *profile.Profile, a profile.Addr) Place {
	l := outside(p, a, 0)
	if l.Known() {
		return Place{File: l.File, Line: l.Line}
	}
	x := located(p, l)
	if x.Function != "" {
		return Place{Function: x.Function, Library: x.Library}
	}
	return Place{Address: x.Address, Library: x.Library}
}

// instructions adds what a part executed to its blocks, times a factor. Code that only
// waits is no work.
func instructions(p *profile.Profile, c profile.Counts, factor float64, blocks []float64) {
	for i, e := range c.Event {
		if ev := &p.Events[e]; ev.Kind == profile.BlockEntered && !p.Graph.Blocks[ev.Block].Spin {
			blocks[ev.Block] += factor * float64(p.Graph.Blocks[ev.Block].Instructions) * float64(c.N[i])
		}
	}
}

// workLines are the lines on which a section's work is.
func (b *builder) workLines(s *profile.Section) []WorkLine {
	blocks, all := make([]float64, len(b.p.Graph.Blocks)), 0.0
	for i := range s.Instances {
		for k := range s.Instances[i].Parts {
			instructions(b.p, s.Instances[i].Parts[k].Whole().Counts, 1, blocks)
		}
	}
	for _, n := range blocks {
		all += n
	}
	out := []WorkLine{}
	for _, l := range b.byLine(blocks) {
		if l.weight < workLine*all || len(out) == workLines {
			break
		}
		if at := b.lineAt(l.block); at.Known() {
			out = append(out, WorkLine{&at, round(l.weight / all)})
		}
	}
	return out
}
