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
	{idiom: "arrive_and_drop", reason: "what a thread did before it dropped out is in the join, not in the round that it dropped out of"},
	{idiom: "async_futures", reason: unseenJoin},
	{idiom: "body_inlined_twice", in: "-2$", reason: "two copies of a line are two causes, and two threads cannot tell them apart"},
	{idiom: "cond_coordinator", reason: inside},
	{idiom: "different_starts", reason: slots},
	{idiom: "dynamic_counter_huge", reason: "self-scheduled work is not told from work that is dealt badly", chance: true},
	{idiom: "dynamic_counter_uniform", reason: "self-scheduled work is not told from work that is dealt badly", chance: true},
	{idiom: "dynamic_queue_huge", reason: "self-scheduled work is not told from work that is dealt badly", chance: true},
	{idiom: "dynamic_queue_uniform", reason: "self-scheduled work is not told from work that is dealt badly", chance: true},
	{idiom: "exceptions", reason: "the counts of functions through which exceptions pass are not known, so no branch explains the difference"},
	{idiom: "io_fsync", reason: noWaits},
	{idiom: "io_slow_pipe", reason: noWaits},
	{idiom: "jthread_clear", reason: inside},
	{idiom: "jthread_scope", reason: inside},
	{idiom: "library_not_counted", reason: "a library that takes most of the time is not counted, and nothing is said"},
	{idiom: "lock_contention", reason: noWaits},
	{idiom: "packaged_task", reason: unseenJoin},
	{idiom: "page_faults", reason: noWaits},
	{idiom: "parallel_for", reason: inside},
	{idiom: "parallel_for_pool", reason: pools},
	{idiom: "parallel_for_template", reason: inside},
	{idiom: "pipeline", reason: noWaits},
	{idiom: "pool_cond", reason: pools},
	{idiom: "pool_latch", reason: pools},
	{idiom: "pool_main_works", reason: pools},
	{idiom: "pool_sem", reason: pools},
	{idiom: "pool_tasks", reason: pools},
	{idiom: "promise", reason: unseenJoin},
	{idiom: "recursive_async", reason: unseenJoin},
	{idiom: "recursive_threads", in: "-(4|8|16)$", reason: "forks inside forks are parts of each other, and the recursion is taken for the cause"},
	{idiom: "rwlock_phases", reason: noWaits},
	{idiom: "same_callee", in: "clang-O[23]|gcc-O3", reason: "the cost of a function is shared out by calls, however dear each is"},
	{idiom: "shared_library", reason: "the cost of a call into a library does not count for the branch that decides it"},
	{idiom: "sleep_for", reason: noWaits},
	{idiom: "sleep_nanosleep", reason: noWaits},
	{idiom: "std_barrier", in: "clang-O0", reason: unseen},
	{idiom: "std_latch", in: "clang-O0", reason: unseen},
	{idiom: "std_semaphore", in: "clang-O3", reason: "a branch before the planted one is taken for the cause"},
	{idiom: "thread_bind", reason: slots},
	{idiom: "thread_lambda", reason: slots},
	{idiom: "thread_member", reason: slots},
	{idiom: "thread_per_round", reason: slots},
}

const (
	unseen     = "the threads meet by a call that has no name in the list, or by none"
	unseenJoin = "a future's get is not seen as a join"
	pools      = "dispatch and done of a pool are no section, or one of some of its rounds with the thread that only waits"
	inside     = "the section is named by the wait inside the function or header that makes it, not by the call"
	slots      = "each new thread has a row of its own"
	noWaits    = "waits are not reported"
)
