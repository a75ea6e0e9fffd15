package profile

// Instructions is the part's executed instructions in the counted blocks,
// Σ block's instructions × its count: the default response T (docs/method.md,
// rule 1). Spinning is left out, since it measures waiting.
func (p *Profile) Instructions(c Counts) uint64 {
	n := uint64(0)
	for i, e := range c.Event {
		ev := &p.Events[e]
		if ev.Kind != BlockEntered {
			continue
		}
		if b := &p.Graph.Blocks[ev.Block]; !b.Spin {
			n += uint64(b.Instructions) * c.N[i]
		}
	}
	return n
}

// ModelCycles is how many cycles counts stand for by the model: one for each
// instruction, and what hardware events add (Event.Cycles), but for those of loops
// that only wait.
func (p *Profile) ModelCycles(c Counts) uint64 {
	n := p.Instructions(c)
	for i, e := range c.Event {
		if ev := &p.Events[e]; ev.Kind == Hardware && ev.Cycles > 0 && !p.Spins(ev) {
			n += uint64(ev.Cycles) * c.N[i]
		}
	}
	return n
}

// Spins reports whether a hardware event happened in a loop that only waits.
func (p *Profile) Spins(e *Event) bool { return e.Block != NoBlock && p.Graph.Blocks[e.Block].Spin }

// Load is how the work of an instance is spread over its parts, in executed
// instructions, and what hardware events add to these (ModelCycles). In a folded instance the parts are sums by rank, so that Most
// is the sum of the executions' maxima, and Idle the sum of their idle.
type Load struct {
	Each []uint64 // by part
	Most uint64   // max T
	Sum  uint64   // Σ T
}

// Load returns the load of an instance.
func (p *Profile) Load(in *Instance) Load {
	l := Load{Each: make([]uint64, len(in.Parts))}
	for i := range in.Parts {
		n := p.ModelCycles(in.Parts[i].Counts) + p.ModelCycles(in.Parts[i].Inner)
		l.Each[i], l.Most, l.Sum = n, max(l.Most, n), l.Sum+n
	}
	return l
}

// Idle is Σ (max T − T): what the others executed less than the busiest.
func (l Load) Idle() uint64 { return l.Most*uint64(len(l.Each)) - l.Sum }

// Imbalance is the mean of (max T − T)/max T, in [0, 1); 0 where nobody did
// anything.
func (l Load) Imbalance() float64 {
	if l.Most == 0 || len(l.Each) == 0 {
		return 0
	}
	return 1 - float64(l.Sum)/float64(l.Most*uint64(len(l.Each)))
}
