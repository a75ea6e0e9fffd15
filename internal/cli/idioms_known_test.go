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
	{idiom: "arrive_and_drop", reason: unseen},
	{idiom: "async_futures", reason: slots},
	{idiom: "atomic_wait", reason: unseen},
	{idiom: "body_inlined_twice", in: "-2$", reason: "two copies of a line are two causes, and two threads cannot tell them apart"},
	{idiom: "different_starts", reason: slots},
	{idiom: "dynamic_counter_huge", reason: unseen},
	{idiom: "dynamic_counter_uniform", reason: unseen},
	{idiom: "dynamic_queue_huge", reason: "self-scheduled work is not told from work that is dealt badly", chance: true},
	{idiom: "dynamic_queue_uniform", reason: "self-scheduled work is not told from work that is dealt badly", chance: true},
	{idiom: "eventfd_barrier", reason: unseen},
	{idiom: "exceptions", reason: unseen},
	{idiom: "futex_asm", reason: unseen},
	{idiom: "futex_syscall", reason: unseen},
	{idiom: "io_fsync", reason: noWaits},
	{idiom: "io_slow_pipe", reason: noWaits},
	{idiom: "jthread_clear", reason: slots},
	{idiom: "jthread_scope", reason: slots},
	{idiom: "library_not_counted", reason: "a library that takes most of the time is not counted, and nothing is said"},
	{idiom: "lock_contention", reason: noWaits},
	{idiom: "packaged_task", reason: slots},
	{idiom: "page_faults", reason: noWaits},
	{idiom: "parallel_for", reason: slots},
	{idiom: "parallel_for_pool", reason: pools},
	{idiom: "parallel_for_template", reason: slots},
	{idiom: "pipe_barrier", reason: unseen},
	{idiom: "pipeline", reason: noWaits},
	{idiom: "pool_cond", reason: pools},
	{idiom: "pool_latch", reason: pools},
	{idiom: "pool_main_works", reason: pools},
	{idiom: "pool_sem", reason: pools},
	{idiom: "pool_tasks", reason: pools},
	{idiom: "posix_sem_turnstiles", reason: unseen},
	{idiom: "promise", reason: slots},
	{idiom: "recursive_async", reason: "forks inside forks are parts of each other, and the recursion is taken for the cause"},
	{idiom: "recursive_threads", in: "-(4|8|16)$", reason: "forks inside forks are parts of each other, and the recursion is taken for the cause"},
	{idiom: "rwlock_phases", reason: noWaits},
	{idiom: "same_callee", in: "clang-O[23]|gcc-O3", reason: "the cost of a function is shared out by calls, however dear each is"},
	{idiom: "shared_library", reason: "the cost of a call into a library does not count for the branch that decides it"},
	{idiom: "sleep_for", reason: unseen},
	{idiom: "sleep_nanosleep", reason: noWaits},
	{idiom: "spin_bounded_yield", reason: unseen},
	{idiom: "spin_futex", reason: unseen},
	{idiom: "spin_pause", reason: unseen},
	{idiom: "spin_sense", reason: unseen},
	{idiom: "spin_trylock", reason: unseen},
	{idiom: "spin_volatile", reason: unseen},
	{idiom: "spin_yield", reason: unseen},
	{idiom: "std_barrier", reason: unseen},
	{idiom: "std_latch", reason: unseen},
	{idiom: "std_semaphore", reason: unseen},
	{idiom: "thread_bind", reason: slots},
	{idiom: "thread_lambda", reason: slots},
	{idiom: "thread_member", reason: slots},
	{idiom: "thread_per_round", reason: slots},
}

const (
	unseen  = "the threads meet by a call that has no name in the list, or by none"
	pools   = "dispatch and done of a pool are no section, or one of some of its rounds with the thread that only waits"
	slots   = "each new thread has a row of its own"
	noWaits = "waits are not reported"
)
