package report

import (
	"encoding/json"

	"github.com/skewlens/skewlens/profile"
)

// Hardware is what the kernel and the processor counted, as far as they did: what is not
// known is not there.
type Hardware struct {
	CPUS            *float64 `json:"cpu_s,omitempty"` // as the kernel counts it
	Cycles          *uint64  `json:"cycles,omitempty"`
	Instructions    *uint64  `json:"instructions,omitempty"`
	IPC             *float64 `json:"ipc,omitempty"` // instructions for each cycle
	CacheReferences *uint64  `json:"cache_references,omitempty"`
	CacheMisses     *uint64  `json:"cache_misses,omitempty"`
	PageFaults      *uint64  `json:"page_faults,omitempty"`
	ContextSwitches *uint64  `json:"context_switches,omitempty"`
	Migrations      *uint64  `json:"migrations,omitempty"`
}

// usual is the response of a profile of which nobody has said one: where no control flow
// was counted, what the processor or at least the kernel has.
func usual(p *profile.Profile) profile.Response {
	counted := p.Totals()
	_, cycles := counted[string(profile.HardwareCycle)]
	_, clock := counted[string(profile.TaskClock)]
	switch {
	case p.Run.Machine != "":
		return profile.ModelCycles
	case p.Run.Backend != perfBackend:
		return ""
	case cycles:
		return profile.HardwareCycle
	case clock:
		return profile.TaskClock
	}
	return profile.BusyTime
}

// perfBackend is that which counts no control flow.
const perfBackend = "perf"

func (b *builder) runHardware() *Hardware { return b.hardware(b.ownTotals()...) }

// ownTotals are the counts of the threads that have some of their own: of very many goroutines
// hardly any has.
func (b *builder) ownTotals() (of []profile.Counts) {
	for i := range b.p.Threads {
		if c := b.p.Threads[i].Totals; len(c.Event) > 0 {
			of = append(of, c)
		}
	}
	return of
}

func (b *builder) sectionHardware(slots []profile.Part) *Hardware {
	var of []profile.Counts
	for _, q := range slots {
		of = append(of, q.Counts, q.Inner)
	}
	return b.hardware(of...)
}

// threadsHardware is that of the section's slots, in their order.
func (b *builder) threadsHardware(slots []profile.Part, n int) []*Hardware {
	out := make([]*Hardware, n)
	for i, q := range slots {
		if i < n {
			out[i] = b.hardware(q.Counts, q.Inner)
		}
	}
	return out
}

// Uncounted reports whether it is not known what the thread executed.
func (t *Thread) Uncounted() bool { return t.uncounted }

// MarshalJSON leaves out instructions that were not counted.
func (t Thread) MarshalJSON() ([]byte, error) {
	x := struct {
		Slot         int       `json:"slot"`
		ID           *int      `json:"id,omitempty"`
		Rank         *int      `json:"rank,omitempty"`
		Instructions *uint64   `json:"instructions,omitempty"`
		BusyS        *float64  `json:"busy_s,omitempty"`
		WaitS        *float64  `json:"wait_s,omitempty"`
		Hardware     *Hardware `json:"hardware,omitempty"`
	}{t.Slot, t.ID, t.Rank, &t.Instructions, t.BusyS, t.WaitS, t.Hardware}
	if t.uncounted {
		x.Instructions = nil
	}
	return json.Marshal(x)
}

func (b *builder) hardware(of ...profile.Counts) *Hardware {
	if b.uncounted { // a program may have very many events, and a section very many slots
		return nil
	}
	sum := b.p.Totals(of...)
	of1 := func(name string) *uint64 {
		n, known := sum[name]
		if !known {
			return nil
		}
		return &n
	}
	h := &Hardware{
		Cycles: of1(string(profile.HardwareCycle)), Instructions: of1(profile.HWInstructions),
		CacheReferences: of1(profile.CacheReferences), CacheMisses: of1(profile.CacheMisses),
		PageFaults: of1(profile.PageFaults), ContextSwitches: of1(profile.ContextSwitches), Migrations: of1(profile.Migrations),
	}
	if ns := of1(string(profile.TaskClock)); ns != nil {
		h.CPUS = known(float64(*ns) / 1e9)
	}
	if h.Cycles != nil && h.Instructions != nil && *h.Cycles > 0 {
		h.IPC = known(float64(*h.Instructions) / float64(*h.Cycles))
	}
	return h
}
