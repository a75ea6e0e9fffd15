package caches

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
	"github.com/skewlens/skewlens/profiler/internal/probe"
)

// Sample is some of the sets of all levels: one of so many. Of lines in others nothing
// is simulated. What misses in the sample stands for as many times as much, and is
// doubted by how far groups of its lines differ.
type Sample struct {
	Of    int // 0 and 1: all
	Lines probe.Sample
}

// groups are told apart at most: enough to say how they differ.
const groups = 8

// NewSample takes one of so many sets of a machine. Which ones is by chance, so that no
// stride of accesses goes by all or none of them, but the same in each run. They are
// told by as many bits of a line's number as all levels have in common.
func NewSample(m cachesim.Machine, of int) (s Sample, err error) {
	if of <= 1 {
		return Sample{}, nil
	}
	sets := int64(64)
	for _, g := range []cachesim.Geometry{m.L1, m.L2, m.L3} {
		if g.Size > 0 {
			sets = min(sets, g.Sets(m.Line))
		}
	}
	if sets < 4 {
		return s, fmt.Errorf("simulate one of %d sets: %s has a cache of %d sets, which are too few: simulate all", of, m.Name, sets)
	}
	if bits.OnesCount(uint(of)) != 1 || int64(of) > sets/2 {
		return s, fmt.Errorf("simulate one of %d sets: %s has %d that can be told apart: take 1/2 to 1/%d, by powers of two", of, m.Name, sets, sets/2)
	}
	s.Of = of
	for _, n := range rand.New(rand.NewPCG(13, 1)).Perm(int(sets))[:int(sets)/of] {
		for at := n; at < 64; at += int(sets) {
			s.Lines |= 1 << at
		}
	}
	return s, nil
}

func (s Sample) groups() int { return min(groups, bits.OnesCount64(uint64(s.Lines))) }

// Doubt is, of the misses of an access that a level served (0 for that behind the
// first), half of the interval that holds how many there are, in 95 of 100 cases, as a part
// of them. Groups of sampled lines are taken for drawn from all; that they may agree by
// chance is why it is at least what as many events of one sort by chance would have.
func (h *Hierarchy) Doubt(op, level int) float64 {
	s := &h.sample
	if s.Of <= 1 {
		return 0
	}
	n := s.groups()
	of := make([]float64, n)
	sum := 0.0
	for i := range of {
		of[i] = float64(binary.LittleEndian.Uint32(h.mem[h.spread+spreadSize*uint64(op)+4*uint64(groups*level+i):]))
		sum += of[i]
	}
	if sum == 0 {
		return 0
	}
	rest := 1 - 1/float64(s.Of) // of all lines, what was not looked at
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	return math.Max(t*math.Sqrt(float64(n)*stat.Variance(of, nil)*rest), 1.96*math.Sqrt(sum*rest)) / sum
}
