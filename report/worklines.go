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

// weighed is a line and what its blocks weigh together.
type weighed struct {
	at     Location
	key    Place // of its line
	weight float64
}

// blockLine is the line of a block. Each section asks for those of the same blocks.
type blockLine struct {
	at     Location
	key    Place
	number int // of the key; 0: nobody has asked yet
}

// lineOf is the line of a block.
func (b *builder) lineOf(v profile.BlockID) *blockLine {
	if b.blockLines == nil {
		b.blockLines, b.lineNumbers = make([]blockLine, len(b.p.Graph.Blocks)), map[Place]int{}
	}
	x := &b.blockLines[v]
	if x.number == 0 {
		x.at, x.key = lineKey(b.p, b.p.Graph.Blocks[v].Start)
		if x.number = b.lineNumbers[x.key]; x.number == 0 {
			x.number = len(b.lineNumbers) + 1
			b.lineNumbers[x.key] = x.number
		}
	}
	return x
}

// byLine adds up what blocks weigh by line, or by function where none is known; the
// heaviest first.
func (b *builder) byLine(blocks []float64) (lines []weighed) {
	at := map[int]int{}
	for i, n := range blocks {
		if n == 0 {
			continue
		}
		x := b.lineOf(profile.BlockID(i))
		k, ok := at[x.number]
		if !ok {
			k = len(lines)
			at[x.number], lines = k, append(lines, weighed{at: x.at, key: x.key})
		}
		lines[k].weight += n
	}
	slices.SortStableFunc(lines, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	return lines
}

// lineKey is where an address is, and what is the same for all on its line, or in its
// function where no line is known.
func lineKey(p *profile.Profile, a profile.Addr) (Location, Place) {
	l := locate(p, a)
	key := Place{File: l.File, Line: l.Line}
	if !l.Known() {
		if key = (Place{Address: l.Address, Library: l.Library}); l.Function != "" {
			key = Place{Function: l.Function, Library: l.Library}
			l.Offset, l.Address = "", ""
		}
	}
	return l, key
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
		if l.at.Known() {
			out = append(out, WorkLine{&l.at, round(l.weight / all)})
		}
	}
	return out
}
