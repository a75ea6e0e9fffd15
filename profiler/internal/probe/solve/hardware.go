package solve

import (
	"github.com/skewlens/skewlens/profile"
)

// firstHardware is the number of the first counter that is no thread's own, but the
// kernel's or the processor's: behind all misses of simulated caches.
const firstHardware = 1 << 30

// counter is what the kernel or the processor counts: of a thread, or, with an address, at
// an instruction.
type counter struct {
	name string
	at   uint64
}

// hardwareEvent is the event of such a counter.
type hardwareEvent struct {
	counter
	event profile.EventID
}

// Hardware is the number of such a counter in resolved deltas. They need not be solved.
func (v *Solver) Hardware(name string, at uint64) int32 {
	k := counter{name, at}
	n, ok := v.hardware[k]
	if !ok {
		n = firstHardware + int32(len(v.hardware))
		v.hardware[k] = n
		v.counters = append(v.counters, hardwareEvent{k, v.newEvent(event{fn: -1})})
	}
	return n
}

// NoHardware says that none of these is known.
func (v *Solver) NoHardware() { v.noHardware = true }

// addHardware numbers their events.
func (x *grapher) addHardware() {
	if x.v.noHardware || len(x.v.counters) == 0 {
		return
	}
	blocks := x.g.IndexBlocks()
	for _, k := range x.v.counters {
		ev := profile.Event{Kind: profile.Hardware, Block: profile.NoBlock, Edge: -1, Addr: profile.Addr(k.at), Name: k.name, Superior: profile.NoEvent}
		if k.at != 0 {
			if ev.Block = blocks.At(ev.Addr); ev.Block != profile.NoBlock {
				ev.Superior = x.g.Blocks[ev.Block].Count
			}
		}
		x.give(k.event, ev)
	}
}
