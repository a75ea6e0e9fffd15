package lime

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/skewlens/skewlens/profile"
)

// Instructions are exact, but they are not all of the work: what the C library, a
// language's runtime and the kernel do is not counted, memory makes threads wait, and
// some instructions take a hundred times as long for some operands. The threads' CPU
// time has all of that, and the machine's noise with it. Where the two disagree
// by more than noise, that is said beside the result (rule 15).
const (
	enoughSamples = 10         // instances whose mean is more than noise
	follows       = 0.9        // r of instructions with busy time
	spread        = 0.02       // (max − mean) / max below which there is nothing to follow
	farApart      = 0.25       // by how much more of the longest the busy times are uneven
	mostlyThere   = 0.75       // of the instances in which one thread takes longest: it is no chance
	longEnough    = 5_000_000  // ns of the thread that takes longest, in all
	longAlone     = 20_000_000 // … in one instance
	slowest       = 8          // ns for an instruction that a part can have on average,
	hardly        = 10         // and if all of a thread's took so long, and it were as many times as busy,
	sooner        = 5          // a so much shorter time is no chance: nothing of it was counted
)

// busyApart says how the threads' busy times contradict their instructions; ""
// where they do not, where that may be noise, or where busy times are none: without
// CPU clocks what a thread slept, or had no core for, is in them.
func busyApart(p *profile.Profile, s *profile.Section, res *Result) string {
	unclocked := func(w profile.Warning) bool { return w.Code == "cpu-clock" }
	if res.Response != profile.Instructions || slices.ContainsFunc(p.Warnings, unclocked) {
		return ""
	}
	n, t := []float64{}, []float64{}
	for _, x := range res.Threads {
		if !x.Timed {
			return ""
		}
		n, t = append(n, float64(x.Instructions)), append(t, float64(x.BusyNS))
	}
	if len(t) < 2 {
		return ""
	}
	if busy, counted := unevenness(t), unevenness(n); busy-counted >= farApart && lastsLongest(s, res.Threads[floats.MaxIdx(t)]) {
		return fmt.Sprintf("The threads' busy times are uneven by %.0f %%, the instructions that were counted by %.0f %%: the rest is work that is not counted (of the C library or a language's runtime, of the kernel), waiting for memory (--events edges,cache tells), or instructions that take long.",
			100*busy, 100*counted)
	}
	if executions(s) < enoughSamples || len(t) < fewThreads || unevenness(n) < spread || unevenness(t) < spread {
		return ""
	}
	if r := stat.Correlation(n, t, nil); r < follows {
		return fmt.Sprintf("Busy time does not follow the executed instructions (r = %.2f over the threads' means): control flow is not the whole story.", r)
	}
	return ""
}

// unevenness is (max − mean) / max.
func unevenness(v []float64) float64 {
	most := floats.Max(v)
	if !(most > 0) {
		return 0
	}
	return (most - floats.Sum(v)/float64(len(v))) / most
}

// executions is how often a section ran, folded instances unfolded.
func executions(s *profile.Section) (n int) {
	for i := range s.Instances {
		n += max(1, s.Instances[i].Folded)
	}
	return n
}

// lastsLongest reports whether a thread, which is busy for longest in all, is so
// in most instances, and long enough for it to be no chance.
func lastsLongest(s *profile.Section, x ThreadTotal) bool {
	place := (&profile.Part{Thread: x.Thread, Slot: x.Slot}).Place()
	times, all := 0.0, 0.0
	for i := range s.Instances {
		in := &s.Instances[i]
		if in.Folded > 1 {
			continue
		}
		longest, who := int64(math.MinInt64), int32(0)
		for k := range in.Parts {
			if b := in.Parts[k].BusyNS; b > longest {
				longest, who = b, in.Parts[k].Place()
			}
		}
		if all++; who == place {
			times++
		}
	}
	busy := x.BusyNS
	if hardly*slowest*x.Instructions < uint64(busy) {
		busy *= sooner
	}
	if all < 2 {
		return busy >= longAlone
	}
	return busy >= longEnough && times >= mostlyThere*all
}
