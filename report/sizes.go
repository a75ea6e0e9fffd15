package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// CacheSizes is what caches of several sizes would have missed, where the run told how
// far back accesses come (rule 25): one of each thread's own, or one that all threads
// share behind small ones of their own. Lists are by size.
type CacheSizes struct {
	Bytes    []int64   `json:"bytes"` // ascending
	Accesses uint64    `json:"accesses"`
	Misses   []uint64  `json:"misses"`
	Rate     []float64 `json:"miss_rate"` // of the accesses; without those of instructions that repeat
	Cycles   []uint64  `json:"cycles"`    // modelled: one for each instruction, and for each miss what memory takes
	Shared   []uint64  `json:"shared_misses"`
	// Knee is the working set: the smallest size that spares nine tenths of the misses
	// which the largest spares; none where size makes no difference.
	Knee *int64 `json:"knee_bytes,omitempty"`
	// CommFactor is the part of the accesses whose data another thread provides, since it
	// wrote them, or touched them first.
	CommFactor *float64      `json:"comm_factor,omitempty"`
	Threads    []ThreadSizes `json:"threads,omitempty"` // in the order of the section's
	Lines      []LineOfSizes `json:"lines"`             // those that miss most in the smallest, the first 20
}

// ThreadSizes is one thread's part: what it loses by sharing a cache is the difference.
type ThreadSizes struct {
	Misses []uint64 `json:"misses"`
	Shared []uint64 `json:"shared_misses"`
}

// LineOfSizes is a source line's part.
type LineOfSizes struct {
	Location Place    `json:"location"`
	Misses   []uint64 `json:"misses"`
	Shared   []uint64 `json:"shared_misses"`
	Cycles   []uint64 `json:"cycles"` // modelled, beyond those of instructions
}

// sizesOf are those of some counts; each are of one thread, or of one slot. nil where
// nothing is known.
func (b *builder) sizesOf(each []profile.Counts) *CacheSizes {
	all := b.p.ReuseSizes()
	if all == nil {
		return nil
	}
	s := &sizer{b: b, all: all, at: map[string]*LineOfSizes{}, ops: map[profile.Addr]bool{}}
	for _, n := range all {
		if len(b.opt.Sizes) == 0 || slices.Contains(b.opt.Sizes, n) {
			s.Bytes = append(s.Bytes, n)
		}
	}
	if len(s.Bytes) == 0 {
		return nil
	}
	s.Misses, s.Shared, s.known = s.none(), s.none(), s.none()
	for _, c := range each {
		for i, e := range c.Event {
			s.accesses(&b.p.Events[e], c.N[i])
		}
	}
	for _, c := range each {
		t := ThreadSizes{s.none(), s.none()}
		for i, e := range c.Event {
			s.event(&b.p.Events[e], c.N[i], &t)
		}
		s.instructions += b.p.Instructions(c)
		s.Threads = append(s.Threads, t)
	}
	return s.done()
}

// sizer is a CacheSizes in the making.
type sizer struct {
	CacheSizes
	b                  *builder
	all                []int64
	instructions, comm uint64
	at                 map[string]*LineOfSizes
	ops                map[profile.Addr]bool // instructions whose accesses are counted,
	known              []uint64              // and what they miss
}

// accesses adds those of a block's executions.
func (s *sizer) accesses(e *profile.Event, times uint64) {
	if e.Kind != profile.BlockEntered {
		return
	}
	b := &s.b.p.Graph.Blocks[e.Block]
	if b.Spin {
		return
	}
	s.Accesses += times * uint64(len(b.Accesses))
	for _, off := range b.Accesses {
		s.ops[b.Start+profile.Addr(off)] = true
	}
}

func (s *sizer) none() []uint64 { return make([]uint64, len(s.Bytes)) }

// event adds one that happened so often.
func (s *sizer) event(e *profile.Event, times uint64, t *ThreadSizes) {
	shared, is := e.IsReuse()
	if !is || s.b.p.Spins(e) {
		return
	}
	if s.ops[e.Addr] && (e.Reason == profile.ReuseLost || e.Reason == profile.ReuseFromOther) {
		s.comm += times
	}
	line := s.line(e.Addr)
	add := func(to []uint64) {
		up, every := e.MissesTo()
		for i, n := range s.Bytes {
			if every || n <= up {
				to[i] += times
			}
		}
	}
	if shared {
		add(s.Shared)
		add(t.Shared)
		add(line.Shared)
		return
	}
	if s.ops[e.Addr] {
		add(s.known)
	}
	add(s.Misses)
	add(t.Misses)
	add(line.Misses)
}

func (s *sizer) line(a profile.Addr) *LineOfSizes {
	at := locate(s.b.p, a)
	k := at.Address
	if at.Known() {
		k = fmt.Sprint(at.Line, " ", at.File)
		at.Column, at.Address = 0, ""
	}
	l := s.at[k]
	if l == nil {
		l = &LineOfSizes{Location: at.Place, Misses: s.none(), Shared: s.none()}
		s.at[k] = l
	}
	return l
}

// done fills in what follows from the sums.
func (s *sizer) done() *CacheSizes {
	if s.Accesses == 0 {
		return nil
	}
	for i, n := range s.Misses {
		s.Rate = append(s.Rate, min(1, float64(s.known[i])/float64(s.Accesses)))
		s.Cycles = append(s.Cycles, s.instructions+profile.ReuseCycles*n)
	}
	s.CommFactor = known(min(1, float64(s.comm)/float64(s.Accesses)))
	s.Knee = knee(s.Bytes, s.Misses)
	var list []*LineOfSizes
	for _, l := range s.at {
		if l.Misses[0]+l.Shared[0] > 0 { // in larger ones there are no more
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(x, y *LineOfSizes) int {
		return cmp.Or(cmp.Compare(y.Misses[0], x.Misses[0]), cmp.Compare(y.Shared[0], x.Shared[0]),
			cmp.Compare(x.Location.Short(), y.Location.Short()), cmp.Compare(x.Location.Address, y.Location.Address))
	})
	s.Lines = []LineOfSizes{}
	for _, l := range list[:min(len(list), memoryLines)] {
		for _, n := range l.Misses {
			l.Cycles = append(l.Cycles, profile.ReuseCycles*n)
		}
		s.Lines = append(s.Lines, *l)
	}
	return &s.CacheSizes
}

// knee is the smallest size that spares nine tenths of what the largest does; nil where
// that is less than a hundredth of the misses.
func knee(sizes []int64, misses []uint64) *int64 {
	first, last := misses[0], misses[len(misses)-1]
	if (first-last)*100 < first || first == last {
		return nil
	}
	for i, n := range misses {
		if 10*(n-last) <= first-last {
			return &sizes[i]
		}
	}
	return nil
}

func (b *builder) runSizes() *CacheSizes {
	s := b.sizesOf(b.ownTotals())
	if s != nil {
		s.Threads = nil // sections have them by slots
	}
	return s
}

func (b *builder) sectionSizes(slots []profile.Part) *CacheSizes {
	var of []profile.Counts
	for _, q := range slots {
		of = append(of, q.Counts.Plus(q.Inner))
	}
	return b.sizesOf(of)
}

// Words says what is most worth knowing.
func (s *CacheSizes) Words() (facts []string) {
	last := len(s.Bytes) - 1
	facts = append(facts, fmt.Sprintf("%s misses %s of the accesses", SizeName(s.Bytes[0]), rate(s.Rate[0])))
	if last > 0 {
		facts = append(facts, fmt.Sprintf("%s %s", SizeName(s.Bytes[last]), rate(s.Rate[last])))
	}
	if s.Knee != nil {
		facts = append(facts, "working set "+SizeName(*s.Knee))
	}
	if s.CommFactor != nil && *s.CommFactor > 0 {
		facts = append(facts, fmt.Sprintf("communication factor %s", few(*s.CommFactor)))
	}
	if size, most := s.loses(); most > 0 {
		facts = append(facts, fmt.Sprintf("sharing one of %s costs a thread up to %s times the misses of its own", SizeName(size), few(most)))
	}
	return facts
}

// loses is by how much the misses of the thread that loses most are more in a shared
// cache, and in which that is most.
func (s *CacheSizes) loses() (size int64, times float64) {
	for _, t := range s.Threads {
		for i, n := range t.Misses {
			if x := float64(t.Shared[i]) / float64(max(1, n)); n > 0 && x > max(1.1, times) && t.Shared[i]-n > s.Accesses/10000 {
				size, times = s.Bytes[i], x
			}
		}
	}
	return size, times
}

func rate(r float64) string {
	return few(100*r) + " %"
}

// SizeName writes a size as people do: "64K", "2M".
func SizeName(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprint(n>>20, "M")
	}
	return fmt.Sprint(n>>10, "K")
}
