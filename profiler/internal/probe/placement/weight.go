package placement

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

const never = 1e30 // weight of what cannot be counted

// weigh estimates what a counter on each edge would cost: its frequency, times
// the price of the code that counts there.
func (w *Network) weigh(opt probe.Options) {
	for i := range w.Edges {
		e := &w.Edges[i]
		switch {
		case e.uncountable:
			e.weight = never
		case e.cfg != nil:
			e.weight = edgeWeight(e.cfg)
		case e.ran > 0:
			e.weight = e.ran * 1.1
		case e.Hub > 0:
			for _, p := range e.block.Pred {
				if p.Kind == cfg.Table {
					e.weight += p.Freq * 1.1
				}
			}
		default:
			w.weighBlock(e, opt)
		}
	}
}

func edgeWeight(e *cfg.Edge) float64 {
	weight := e.Freq * 1.05
	switch e.Kind {
	case cfg.Taken:
		weight = e.Freq * 1.3 // needs a jump of its own
	case cfg.Entry, cfg.Pad:
		weight = e.Freq * 1.1
	}
	if e.To != nil && e.To.LiveIn&^x86.CF != 0 {
		weight *= 4 // the flags have to be saved
	}
	return weight
}

func (w *Network) weighBlock(e *Edge, opt probe.Options) {
	e.weight = e.block.Freq
	if _, dead := CountingPoint(e.block); !dead {
		e.weight *= 4
	}
	if !opt.NoInduction && e.block.Loop != nil {
		if v, cost := w.inductionFor(e.block); v != nil && cost < e.weight {
			e.weight, e.Induction = cost, v
		}
	}
}

// CountingPoint returns the instruction before which a block is counted: the
// first place where the flags that incq changes are dead, and before the
// first call, which might not come back. dead is false when there is none.
func CountingPoint(b *cfg.Block) (k int, dead bool) {
	if b.Enters || b.Leaves { // between what is recorded there
		return 0, b.LiveIn&^x86.CF == 0
	}
	firstCall := len(b.Insns)
	for i := range b.Insns {
		if b.Insns[i].Kind.IsCall() {
			firstCall = i
			break
		}
	}
	live := b.LiveOut
	best := -1
	for i := len(b.Insns) - 1; i >= 0; i-- {
		live = live&^b.Insns[i].FlagsKilled | b.Insns[i].FlagsRead
		if live&^x86.CF == 0 && i <= firstCall {
			best = i
		}
	}
	if best < 0 {
		return 0, false
	}
	return best, true
}
