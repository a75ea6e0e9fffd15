package report

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	pprof "github.com/google/pprof/profile"

	"github.com/skewlens/skewlens/profile"
)

var errNoProfile = errors.New("this report was read back from JSON: give the saved profile itself")

// WritePprof writes a profile.proto, gzipped, for go tool pprof and whatever
// else reads it: a sample for each block of each thread in each section, with
// the labels thread and section (and spin, on loops that only wait).
//
// A sample is one location with the calls it was inlined at, and no callers:
// the counts say how often a block ran, not for whom. All of a block stands on
// the line where it begins. Instructions are exact. The cpu time of a thread
// in a section is measured, how it is split over the blocks is not: by their
// instructions.
func WritePprof(w io.Writer, r *Report) error {
	if r.of == nil {
		return fmt.Errorf("write pprof: %w", errNoProfile)
	}
	b := newPprof(r)
	for i := range r.Sections {
		b.section(&r.Sections[i])
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

type pprofBuilder struct {
	p         *profile.Profile
	out       *pprof.Profile
	timed     bool
	parts     map[*profile.Section][]profile.Part // of each thread, all instances together
	locations map[profile.BlockID]*pprof.Location
	functions map[[2]string]*pprof.Function
	rest      map[profile.ThreadID]profile.Counts // what no section has claimed yet
}

func newPprof(r *Report) *pprofBuilder {
	p := r.of
	b := &pprofBuilder{
		p: p, timed: true,
		parts:     map[*profile.Section][]profile.Part{},
		locations: map[profile.BlockID]*pprof.Location{},
		functions: map[[2]string]*pprof.Function{},
		rest:      map[profile.ThreadID]profile.Counts{},
		out: &pprof.Profile{
			SampleType:        []*pprof.ValueType{{Type: "instructions", Unit: "count"}},
			DefaultSampleType: "instructions",
			DurationNanos:     p.Run.WallNS,
			Mapping:           []*pprof.Mapping{{ID: 1, File: p.Program.Path, BuildID: p.Program.BuildID, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}},
			Comments:          []string{"Instructions are exact counts, a block's all on the line where it begins. Callers are not known, only what was inlined."},
		},
	}
	for i, l := range p.Program.Libraries {
		b.out.Mapping = append(b.out.Mapping, &pprof.Mapping{ID: uint64(i + 2), File: l.Path, BuildID: l.BuildID, Start: uint64(l.Base), Limit: uint64(l.Base),
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true})
	}
	for i := range p.Graph.Blocks {
		m := b.mapping(p.Graph.Blocks[i].Start)
		m.Limit = max(m.Limit, uint64(p.Graph.Blocks[i].End))
	}
	for i := range p.Threads {
		b.rest[p.Threads[i].ID] = p.Threads[i].Totals
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		b.parts[s] = partsByThread(p, s)
		for _, q := range b.parts[s] {
			b.timed = b.timed && q.Timed
		}
	}
	if b.timed && len(p.Sections) > 0 {
		b.out.SampleType = append(b.out.SampleType, &pprof.ValueType{Type: "cpu", Unit: "nanoseconds"})
		b.out.Comments = append(b.out.Comments, "The cpu time of a thread in a section is measured; within the section it is split by instructions.")
	} else {
		b.timed = false
	}
	return b
}

// partsByThread adds up a section's instances. Folded instances know no
// threads, only ranks; but where there are any, the section kept the totals.
func partsByThread(p *profile.Profile, s *profile.Section) []profile.Part {
	if len(s.Totals) > 0 {
		return s.Totals
	}
	own := map[profile.ThreadID][]*profile.Part{}
	for i := range s.Instances {
		for k := range s.Instances[i].Parts {
			q := &s.Instances[i].Parts[k]
			own[q.Thread] = append(own[q.Thread], q)
		}
	}
	sums := []profile.Part{}
	scratch := make([]uint64, len(p.Events))
	for i := range p.Threads {
		if qs := own[p.Threads[i].ID]; len(qs) > 0 {
			sums = append(sums, sumOf(qs, scratch))
		}
	}
	return sums
}

// sumOf adds up parts of one thread. To add one sparse vector to the next would
// copy the sum each time; scratch, all zeros before and after, has room for all.
func sumOf(parts []*profile.Part, scratch []uint64) profile.Part {
	sum := profile.Part{Thread: parts[0].Thread, Timed: true}
	n := 0
	for _, q := range parts {
		for i, e := range q.Counts.Event {
			if scratch[e] == 0 {
				n++
			}
			scratch[e] += q.Counts.N[i]
		}
		sum.BusyNS, sum.WaitNS, sum.Timed = sum.BusyNS+q.BusyNS, sum.WaitNS+q.WaitNS, sum.Timed && q.Timed
	}
	sum.Counts = profile.Counts{Event: make([]profile.EventID, 0, n), N: make([]uint64, 0, n)}
	for e, n := range scratch {
		if n > 0 {
			sum.Counts.Event, sum.Counts.N = append(sum.Counts.Event, profile.EventID(e)), append(sum.Counts.N, n)
			scratch[e] = 0
		}
	}
	return sum
}

func (b *pprofBuilder) section(s *Section) {
	if s.of == nil {
		return
	}
	for _, q := range b.parts[s.of] {
		b.part(q.Thread, s.ID, q.Counts, q.BusyNS)
		b.rest[q.Thread] = minus(b.rest[q.Thread], q.Counts)
	}
}

// outside adds what the threads did in no section: before the first, after the last.
func (b *pprofBuilder) outside() {
	for i := range b.p.Threads {
		id := b.p.Threads[i].ID
		b.part(id, "outside", b.rest[id], 0)
	}
}

// minus takes d from c; what d has more than c counts as nothing.
func minus(c, d profile.Counts) profile.Counts {
	left := profile.Counts{}
	j := 0
	for i, e := range c.Event {
		for j < len(d.Event) && d.Event[j] < e {
			j++
		}
		n := c.N[i]
		if j < len(d.Event) && d.Event[j] == e {
			n -= min(n, d.N[j])
		}
		if n > 0 {
			left.Event, left.N = append(left.Event, e), append(left.N, n)
		}
	}
	return left
}

func (b *pprofBuilder) part(thread profile.ThreadID, section string, c profile.Counts, busyNS int64) {
	total := uint64(0)
	b.eachBlock(c, func(_ profile.BlockID, n uint64) { total += n })
	done, given := uint64(0), int64(0)
	b.eachBlock(c, func(id profile.BlockID, n uint64) {
		sample := &pprof.Sample{
			Location: []*pprof.Location{b.location(id)},
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
func (b *pprofBuilder) eachBlock(c profile.Counts, do func(profile.BlockID, uint64)) {
	for i, e := range c.Event {
		if ev := &b.p.Events[e]; ev.Kind == profile.BlockEntered {
			if n := c.N[i] * uint64(b.p.Graph.Blocks[ev.Block].Instructions); n > 0 {
				do(ev.Block, n)
			}
		}
	}
}

func (b *pprofBuilder) location(id profile.BlockID) *pprof.Location {
	if l := b.locations[id]; l != nil {
		return l
	}
	block := &b.p.Graph.Blocks[id]
	l := &pprof.Location{ID: uint64(len(b.out.Location) + 1), Mapping: b.mapping(block.Start), Address: uint64(block.Start)}
	at, _ := b.p.Location(block.Start)
	if at.Function == "" {
		at.Function = b.p.Graph.Functions[block.Function].Name
	}
	for _, f := range append([]profile.Frame{at.Frame}, at.InlinedAt...) {
		l.Line = append(l.Line, pprof.Line{Function: b.function(f), Line: int64(f.Line), Column: int64(f.Column)})
	}
	b.locations[id] = l
	b.out.Location = append(b.out.Location, l)
	return l
}

func (b *pprofBuilder) function(f profile.Frame) *pprof.Function {
	key := [2]string{f.Function, f.File}
	if g := b.functions[key]; g != nil {
		return g
	}
	g := &pprof.Function{ID: uint64(len(b.out.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
	b.functions[key] = g
	b.out.Function = append(b.out.Function, g)
	return g
}

// mapping is the file that an address is of.
func (b *pprofBuilder) mapping(a profile.Addr) *pprof.Mapping {
	l, _ := b.p.Program.Library(a)
	if l == nil {
		return b.out.Mapping[0]
	}
	return b.out.Mapping[l.Base/profile.LibraryStep]
}
