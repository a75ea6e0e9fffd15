// Package pprof writes a profile as a gzipped profile.proto, for go tool pprof
// and whatever else reads it.
//
//	section × thread × block ──▶ sample: location and what it was inlined at,
//	                             labels thread, section (and spin, on loops that
//	                             only wait); instructions, cpu time
//	whole life less sections ──▶ the same with section "outside"
//
// A sample has no callers: the counts say how often a block ran, not for whom.
// All of a block stands on the line where it begins. Instructions are exact. The
// cpu time of a thread in a section is measured, how it is split over the blocks
// is not: by their instructions.
package pprof

import (
	"fmt"
	"io"
	"strconv"

	pb "github.com/google/pprof/profile"

	"github.com/skewlens/skewlens/export"
	"github.com/skewlens/skewlens/profile"
)

// Write writes the samples of the given sections, in their order, and of what
// the threads did outside them. The profile must be valid.
func Write(w io.Writer, p *profile.Profile, sections []export.Section) error {
	b := newBuilder(p)
	parts := b.parts(sections)
	for i, s := range sections {
		b.section(s.Name, parts[i])
	}
	b.outside()
	if err := b.out.CheckValid(); err != nil {
		return fmt.Errorf("write pprof: %w", err)
	}
	if err := b.out.Write(w); err != nil {
		return fmt.Errorf("write pprof: %w", err)
	}
	return nil
}

type builder struct {
	p         *profile.Profile
	out       *pb.Profile
	timed     bool
	locations map[profile.BlockID]*pb.Location
	functions map[[2]string]*pb.Function
	unclaimed map[profile.ThreadID]profile.Counts // what no section has claimed yet
	with      map[profile.ThreadID]profile.ThreadID
}

func newBuilder(p *profile.Profile) *builder {
	b := &builder{
		p:         p,
		locations: map[profile.BlockID]*pb.Location{},
		functions: map[[2]string]*pb.Function{},
		unclaimed: map[profile.ThreadID]profile.Counts{},
		with:      map[profile.ThreadID]profile.ThreadID{},
		out: &pb.Profile{
			SampleType:        []*pb.ValueType{{Type: "instructions", Unit: "count"}},
			DefaultSampleType: "instructions",
			DurationNanos:     p.Run.WallNS,
			Mapping:           []*pb.Mapping{{ID: 1, File: p.Program.Path, BuildID: p.Program.BuildID, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}},
			Comments:          []string{"Instructions are exact counts, a block's all on the line where it begins. Callers are not known, only what was inlined."},
		},
	}
	for i, l := range p.Program.Libraries {
		b.out.Mapping = append(b.out.Mapping, &pb.Mapping{ID: uint64(i + 2), File: l.Path, BuildID: l.BuildID, Start: uint64(l.Base), Limit: uint64(l.Base),
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true})
	}
	for i := range p.Graph.Blocks {
		m := b.mapping(p.Graph.Blocks[i].Start)
		m.Limit = max(m.Limit, uint64(p.Graph.Blocks[i].End))
	}
	for i := range p.Threads {
		t := &p.Threads[i]
		b.unclaimed[t.ID], b.with[t.ID] = t.Totals, t.With
	}
	return b
}

// parts are those of each thread in each section, all instances together. Where
// one was not timed there is no sample type for time: zeros would be believed.
func (b *builder) parts(sections []export.Section) [][]profile.Part {
	out := make([][]profile.Part, len(sections))
	b.timed = len(sections) > 0
	for i, s := range sections {
		out[i] = s.PartsByThread()
		for _, q := range out[i] {
			b.timed = b.timed && q.Timed
		}
	}
	if b.timed {
		b.out.SampleType = append(b.out.SampleType, &pb.ValueType{Type: "cpu", Unit: "nanoseconds"})
		b.out.Comments = append(b.out.Comments, "The cpu time of a thread in a section is measured; within the section it is split by instructions.")
	}
	return out
}

func (b *builder) section(name string, parts []profile.Part) {
	for _, q := range parts {
		b.part(q.Thread, name, q.Counts, q.BusyNS)
		of := q.Thread
		if with := b.with[of]; with != 0 {
			of = with - 1
		}
		b.unclaimed[of] = b.unclaimed[of].Minus(q.Counts)
	}
}

// outside adds what the threads did in no section: before the first, after the last.
func (b *builder) outside() {
	for i := range b.p.Threads {
		id := b.p.Threads[i].ID
		b.part(id, "outside", b.unclaimed[id], 0)
	}
}

func (b *builder) part(thread profile.ThreadID, section string, c profile.Counts, busyNS int64) {
	total := uint64(0)
	b.eachBlock(c, func(_ profile.BlockID, n uint64) { total += n })
	done, given := uint64(0), int64(0)
	b.eachBlock(c, func(id profile.BlockID, n uint64) {
		sample := &pb.Sample{
			Location: []*pb.Location{b.location(id)},
			Value:    []int64{int64(n)},
			Label:    map[string][]string{"thread": {strconv.Itoa(int(thread))}, "section": {section}},
		}
		if b.p.Graph.Blocks[id].Spin {
			sample.Label["spin"] = []string{"waiting"}
		}
		if b.timed {
			// Rounded so that the samples add up to what was measured.
			done += n
			until := int64(float64(busyNS) * (float64(done) / float64(total)))
			if done == total {
				until = busyNS
			}
			sample.Value = append(sample.Value, until-given)
			given = until
		}
		b.out.Sample = append(b.out.Sample, sample)
	})
}

// eachBlock calls do with the instructions that were executed in each block.
func (b *builder) eachBlock(c profile.Counts, do func(profile.BlockID, uint64)) {
	for i, e := range c.Event {
		if ev := &b.p.Events[e]; ev.Kind == profile.BlockEntered {
			if n := c.N[i] * uint64(b.p.Graph.Blocks[ev.Block].Instructions); n > 0 {
				do(ev.Block, n)
			}
		}
	}
}

func (b *builder) location(id profile.BlockID) *pb.Location {
	if l := b.locations[id]; l != nil {
		return l
	}
	block := &b.p.Graph.Blocks[id]
	l := &pb.Location{ID: uint64(len(b.out.Location) + 1), Mapping: b.mapping(block.Start), Address: uint64(block.Start)}
	at, _ := b.p.Location(block.Start)
	if at.Function == "" {
		at.Function = b.p.Graph.Functions[block.Function].Name
	}
	for _, f := range append([]profile.Frame{at.Frame}, at.InlinedAt...) {
		l.Line = append(l.Line, pb.Line{Function: b.function(f), Line: int64(f.Line), Column: int64(f.Column)})
	}
	b.locations[id] = l
	b.out.Location = append(b.out.Location, l)
	return l
}

func (b *builder) function(f profile.Frame) *pb.Function {
	key := [2]string{f.Function, f.File}
	if g := b.functions[key]; g != nil {
		return g
	}
	g := &pb.Function{ID: uint64(len(b.out.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
	b.functions[key] = g
	b.out.Function = append(b.out.Function, g)
	return g
}

// mapping is the file that an address is of.
func (b *builder) mapping(a profile.Addr) *pb.Mapping {
	l, _ := b.p.Program.Library(a)
	if l == nil {
		return b.out.Mapping[0]
	}
	return b.out.Mapping[l.Base/profile.LibraryStep]
}
