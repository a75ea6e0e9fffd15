package profile

// CacheMiss is the name of events of misses that the processor has told the instructions of.
const CacheMiss = "cache-miss"

// Total reports whether a hardware event is a whole thread's, and happened wherever it did:
// what the kernel or the processor counts, as cycles. No place is to blame for it.
func (e *Event) Total() bool { return e.Kind == Hardware && e.Addr == 0 }

// Names of events that are a whole thread's, as the kernel calls them.
const (
	ContextSwitches = "context-switches"
	Migrations      = "migrations"
	PageFaults      = "page-faults"
	HWInstructions  = "instructions"
	CacheReferences = "cache-references"
	CacheMisses     = "cache-misses"
)

// Totals are the sums of such events in counts, by name; nil where there are none at all.
func (p *Profile) Totals(of ...Counts) (sum map[string]uint64) {
	for i := range p.Events {
		if e := &p.Events[i]; e.Total() {
			if sum == nil {
				sum = map[string]uint64{}
			}
			sum[e.Name] += 0
			for k := range of {
				sum[e.Name] += of[k].Of(EventID(i))
			}
		}
	}
	return sum
}
