package report

import "github.com/skewlens/skewlens/profile"

// Virtual is a section's time where threads were kept together as on so many
// cores, in virtual cycles: one for an executed instruction, whatever it does.
// Seconds are this machine's, on which they shared fewer.
type Virtual struct {
	Cores int    `json:"cores"`
	Span  uint64 `json:"span_cycles"` // all instances, one after the other
	Wait  uint64 `json:"wait_cycles"` // all threads together, for the busiest or, where they are more than cores, for one
	// Gain is what the section is shorter by at most when all its causes are balanced.
	Gain *uint64 `json:"gain_cycles,omitempty"`

	least uint64 // what the cores need for the work, however it is dealt
}

// add puts an instance behind those before: it ends with its busiest thread, but
// not before the cores can have done all its work.
func (v *Virtual) add(l profile.Load) {
	if v.Cores == 0 {
		return
	}
	span := max(l.Most, (l.Sum+uint64(v.Cores)-1)/uint64(v.Cores))
	v.Span += span
	v.Wait += span*uint64(len(l.Each)) - l.Sum
	v.least += (l.Sum + uint64(v.Cores) - 1) / uint64(v.Cores)
}

// of returns it, with what the joint gain of the section's causes would be; nil
// where nothing is known.
func (v *Virtual) of(joint *Gain) *Virtual {
	if v.Cores == 0 || v.Span == 0 {
		return nil
	}
	if joint != nil {
		gain := min(uint64(joint.Fraction*float64(v.Span)), v.Span-v.least)
		v.Gain = &gain
	}
	return v
}
