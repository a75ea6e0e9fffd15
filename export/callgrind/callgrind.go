// Package callgrind writes a profile in callgrind's format, for KCachegrind and
// callgrind_annotate.
//
//	profile ─┬─ blocks × counts ──▶ cost lines, by instruction where these are known
//	         ├─ jump edges ───────▶ jump= and jcnd= lines
//	         └─ call edges ───────▶ calls= lines, with inclusive costs where they follow
//	                                from the counts
//
// There is one part for each thread, of its whole life. No totals are given: a
// reader of several parts would take the last one's for all. It adds up the
// lines instead.
package callgrind

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
)

// Options bring what the profile alone does not hold; the zero value
// gives one line for each block, at its first instruction.
type Options struct {
	// Instructions lists where the instructions of [start, end) begin, or
	// nothing where that cannot be known. It must read the very program that
	// ran: the same build id.
	Instructions func(start, end profile.Addr) []profile.Addr
	// Locate knows the lines of instructions that the profile does not.
	Locate func(profile.Addr) (profile.Location, bool)
}

// Write writes one part for each thread, or for those that were counted together: executed instructions by instruction,
// calls and jumps. The profile must be valid. An error is the writer's.
func Write(w io.Writer, p *profile.Profile, opt Options) error {
	b := bufio.NewWriter(w)
	c := &writer{w: b, p: p, opt: opt, blocks: p.Graph.IndexBlocks(), located: map[profile.Addr]profile.Location{}}
	c.header()
	for i, counts := range p.ThreadCounts() {
		if t := &p.Threads[i]; t.With == 0 || t.With-1 == t.ID {
			c.part(i, counts)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write callgrind: %w", err)
	}
	return nil
}

type writer struct {
	w      io.Writer
	p      *profile.Profile
	opt    Options
	blocks *profile.BlockIndex

	located map[profile.Addr]profile.Location // what opt.Locate has answered
	objects names
	object  string // of the function that is being written

	// Of the part that is being written:
	counts   profile.Counts
	active   map[profile.BlockID][]profile.Addr // where its active frames stood
	incl     inclusive
	files    names
	funcs    names
	own, cur string                    // the function's file, and the one that lines belong to
	out      map[profile.BlockID][]int // edges by the block they leave
}

func (c *writer) line(format string, args ...any) { fmt.Fprintf(c.w, format+"\n", args...) }

func (c *writer) header() {
	p := c.p
	c.line("# callgrind format\nversion: 1\ncreator: skewlens\ncmd: %s", units.Printable(strings.Join(append([]string{p.Program.Path}, p.Program.Args...), " ")))
	c.line("# Calls have inclusive costs where a function was called from one place only;\n# elsewhere none: how much each caller caused is not known, and viewers take it for 0.")
	c.out = map[profile.BlockID][]int{}
	for i := range p.Graph.Edges {
		if e := &p.Graph.Edges[i]; e.From != profile.NoBlock && e.To != profile.NoBlock && e.Site != 0 && e.Count != profile.NoEvent {
			c.out[e.From] = append(c.out[e.From], i)
		}
	}
}

func (c *writer) part(i int, counts profile.Counts) {
	t := &c.p.Threads[i]
	c.counts, c.files, c.funcs, c.active = counts, names{}, names{}, map[profile.BlockID][]profile.Addr{}
	for _, a := range t.Active {
		if b := c.blocks.At(a); b != profile.NoBlock {
			c.active[b] = append(c.active[b], a)
		}
	}
	c.incl = c.inclusive()
	c.line("\npart: %d\nthread: %d\npositions: instr line\nevents: Ir", i+1, t.ID)
	c.objects, c.object = names{}, ""
	g := &c.p.Graph
	for f := range g.Functions {
		begun := false
		for b := g.Functions[f].First; b < g.Functions[f].First+profile.BlockID(g.Functions[f].N); b++ {
			if !c.ran(b) {
				continue
			}
			if !begun {
				begun = true
				if at := c.objectOf(f); at != c.object {
					c.object = at
					c.line("\nob=%s", c.objects.of(at))
				}
				c.own, c.cur = c.fileOf(f), c.fileOf(f)
				c.line("\nfl=%s\nfn=%s", c.files.of(c.own), c.funcs.of(c.nameOf(f)))
			}
			c.block(b)
		}
	}
}

// ran: the block has costs, or edges of its own (a virtual one has only these).
func (c *writer) ran(b profile.BlockID) bool {
	block := &c.p.Graph.Blocks[b]
	if block.Count != profile.NoEvent && c.counts.Of(block.Count) > 0 {
		return true
	}
	for _, e := range c.out[b] {
		if c.counts.Of(c.p.Graph.Edges[e].Count) > 0 {
			return true
		}
	}
	return false
}

// cost is one cost line: an instruction, or a block where its instructions are not known.
type cost struct {
	at profile.Addr
	n  uint64
}

// costs are the lines of a block. What frames never came to is taken off where
// the instructions are known; else the block counts whole.
func (c *writer) costs(id profile.BlockID) []cost {
	b := &c.p.Graph.Blocks[id]
	if b.Count == profile.NoEvent || b.Virtual {
		return nil
	}
	n := c.counts.Of(b.Count)
	if n == 0 {
		return nil
	}
	var insns []profile.Addr
	if c.opt.Instructions != nil {
		insns = c.opt.Instructions(b.Start, b.End)
	}
	if len(insns) != int(b.Instructions) || insns[0] != b.Start {
		return []cost{{b.Start, n * uint64(b.Instructions)}}
	}
	out := []cost{}
	for _, a := range insns {
		left := n
		for _, stood := range c.active[id] {
			if a >= stood && left > 0 {
				left--
			}
		}
		if left > 0 {
			out = append(out, cost{a, left})
		}
	}
	return out
}

func (c *writer) block(id profile.BlockID) {
	b := &c.p.Graph.Blocks[id]
	for _, k := range c.costs(id) {
		c.line("%s %d", c.at(k.at, b), k.n)
	}
	for _, i := range c.out[id] {
		e := &c.p.Graph.Edges[i]
		n := c.counts.Of(e.Count)
		if n == 0 {
			continue
		}
		target := &c.p.Graph.Blocks[e.To]
		there := c.locate(target.Start, target)
		position := fmt.Sprintf("0x%x %d", uint64(target.Start), there.Line)
		from := c.at(e.Site, b)
		switch e.Kind {
		case profile.Call, profile.Indirect, profile.TailCall:
			f := int(target.Function)
			if at := c.objectOf(f); at != c.object {
				c.line("cob=%s", c.objects.of(at))
			}
			c.line("cfi=%s\ncfn=%s\ncalls=%d %s", c.files.of(c.fileOf(f)), c.funcs.of(c.nameOf(f)), n, position)
			if cost, known := c.incl[i]; known {
				from = fmt.Sprintf("%s %d", from, cost)
			}
			c.line("%s", from)
		case profile.Taken:
			c.jumpFile(there.File)
			c.line("jcnd=%d/%d %s\n%s", n, max(n, c.executed(id)), position, from)
		case profile.Jump, profile.Table:
			c.jumpFile(there.File)
			c.line("jump=%d %s\n%s", n, position, from)
		}
	}
}

func (c *writer) executed(id profile.BlockID) uint64 {
	if e := c.p.Graph.Blocks[id].Count; e != profile.NoEvent {
		return c.counts.Of(e)
	}
	return 0
}

// jumpFile says where a jump leads when that line is from another file.
func (c *writer) jumpFile(file string) {
	if file != c.cur {
		c.line("jfi=%s", c.files.of(file))
	}
}
