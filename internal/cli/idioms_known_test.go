package cli

import (
	"regexp"
	"slices"
	"testing"
)

// known is why an idiom fails in this variant, nil where it must not.
func (i *idiom) known(v variant) *knownFailure {
	for n := range knownFailures {
		k := &knownFailures[n]
		if k.idiom == i.name && regexp.MustCompile(k.in).MatchString(v.String()) {
			return k
		}
	}
	return nil
}

// Every known failure is of an idiom that there is.
func TestKnownFailuresExist(t *testing.T) {
	all := idioms(t)
	for _, k := range knownFailures {
		if !slices.ContainsFunc(all, func(i idiom) bool { return i.name == k.idiom }) {
			t.Errorf("%s: no such idiom", k.idiom)
		}
	}
}

type knownFailure struct {
	idiom, in, reason string
	chance            bool
}

// knownFailures must shrink. Where an idiom fails in some variants only, they
// are given by an expression that matches as in "gcc-O2-8"; where chance has a
// hand in it, it may pass.
var knownFailures = []knownFailure{
	{idiom: "dynamic_counter_huge", reason: tookAll, chance: true},
	{idiom: "dynamic_queue_huge", reason: tookAll, chance: true},
	{idiom: "io_slow_pipe", reason: "on a busy machine the writer may be so far ahead that nobody waits for it", chance: true},
	{idiom: "lock_holder", in: "-(8|16)$", reason: coreWaits, chance: true},
	{idiom: "rwlock_writer", in: "-(8|16)$", reason: coreWaits, chance: true},
	{idiom: "cond_producer", in: "-(8|16)$", reason: coreWaits, chance: true},
	{idiom: "pool_yield", in: "clang-O3-", reason: doneBefore, chance: true},
	{idiom: "pool_boxes", in: "clang-O3-", reason: doneBefore, chance: true},
	{idiom: "pool_futures", in: "-(8|16)$", reason: neverCame, chance: true},
	{idiom: "rwlock_phases", reason: nobodyCame, chance: true},
	{idiom: "lock_contention", reason: nobodyCame, chance: true},
	{idiom: "rust_lock", reason: nobodyCame, chance: true},
	{idiom: "rayon_iter", reason: wokenLate, chance: true},
	{idiom: "rayon_scope", reason: wokenLate, chance: true},
	{idiom: "rust_channels", in: "O0-", reason: dozens, chance: true},
	{idiom: "rust_crossbeam", in: "O0-", reason: dozens, chance: true},
	{idiom: "rust_crossbeam", in: "O[23]-8$", reason: loopFirst, chance: true},
	{idiom: "rust_shared_receiver", in: "O0-", reason: dozens, chance: true},
	{idiom: "rust_threadpool", in: "O0-", reason: dozens, chance: true},
	{idiom: "rust_tokio", in: "O0-", reason: dozens, chance: true},
	{idiom: "rust_parking_lot", in: "O0-2$", reason: dozens, chance: true},
	{idiom: "packaged_loop", in: "O0-", reason: givenElsewhere},
	{idiom: "packaged_loop", in: "clang-O2-", reason: likeAStore},
	{idiom: "call_for_dear", in: "clang-O3-2$", reason: manyWays},
	{idiom: "pool_shared_queue", reason: oneTookAll, chance: true},
	{idiom: "stealing_polls", in: "O0-2$", reason: looksOften, chance: true},
	{idiom: "work_stealing", in: "O0-", reason: looksOften, chance: true},
}

const (
	dozens         = "unoptimised code waits for a channel, or between tasks, in dozens of functions"
	tookAll        = "one thread may have taken everything before another one comes, and two cannot tell the piece from who took it"
	doneBefore     = "on a busy machine all may be done when the first thread looks for the first time, which then does not wait"
	neverCame      = "on a busy machine a thread of a pool may come to no piece in all rounds, and has no row"
	nobodyCame     = "on a busy machine nobody may come while the lock is held"
	oneTookAll     = "on a busy machine one thread takes all pieces of most rounds, and it does not show that it is these that the first thread waits for"
	loopFirst      = "on a busy machine the loop in the huge piece may be named, one line below the branch that leads there"
	wokenLate      = "on a busy machine a worker that is woken may come when one has done everything, and then nobody has met"
	manyWays       = "the loop is unrolled, and two threads do not tell apart what its eight copies cost by either way: the gain is too small"
	likeAStore     = "a task whose future is taken in a function of its own looks like a store that work is taken from"
	givenElsewhere = "unoptimised code says what call_once is to call in another function than the one that calls it"
	looksOften     = "on a busy machine a thread may look for pieces more often, in a loop of which unoptimised code does not show that it deals"
	coreWaits      = "with many threads on few cores most of a wait is for a core, not for who ended it"
)
