package placement

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Looks reports whether threads look where others are in each round of a loop,
// where they look at all: it holds another one, or calls, or works on what
// threads share, or waits for it, as far as can be seen. Such a loop is not counted by a register, whose sum is not
// right inside.
func Looks(l *cfg.Loop) bool {
	return !l.Inner || slices.ContainsFunc(l.Blocks, func(b *cfg.Block) bool { return !Light(b) }) || l.MayWait()
}

// Light reports whether a block runs through data only: it neither calls, nor waits,
// nor works on what threads share.
func Light(b *cfg.Block) bool {
	return !b.Spin && len(b.Calls) == 0 && !slices.ContainsFunc(b.Insns, func(in x86.Insn) bool { return in.Lock })
}
