package cfg

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestRoles: functions of runtimes that deal tasks out, as compilers mangle them.
func TestRoles(t *testing.T) {
	for name, want := range map[string]struct {
		role      string
		scheduler bool
	}{
		"_ZN3tbb6detail2d19start_forINS1_13blocked_rangeIiEEZ4mainEUliE_KNS1_16auto_partitionerEE7executeERNS1_14execution_dataE": {record.Task, false},
		"_ZN5__pstl13__tbb_backend11__func_taskIZ4mainEUlvE_E7executeERN3tbb6detail2d114execution_dataE":                          {record.Task, false},
		"_ZN3tbb6detail2d115concrete_filterIvPiZ4mainEUlvE_EclEPv":                                                                {record.Task, false},
		"_ZN3tbb6detail2d19start_forINS1_13blocked_rangeIiEEZ4mainEUliE_KNS1_16auto_partitionerEE6cancelERNS1_14execution_dataE":  {},
		"_ZN83_$LT$rayon_core..job..StackJob$LT$L$C$F$C$R$GT$$u20$as$u20$rayon_core..job..Job$GT$7execute17h46b894f7b3fd4a5dE":    {record.Task, false},
		"_RNvXs_NtCs1_10rayon_core3jobINtB4_8StackJobppE3Job7execute":                                                             {record.Task, false},
		"_ZN10rayon_core8registry8Registry6inject17h17b381d7c8603864E":                                                            {record.Spawn, false},
		"_ZN10rayon_core5latch9LockLatch14wait_and_reset17hcb4fb957e7dd6a39E":                                                     {record.AwaitAll, false},
		"_ZN10rayon_core8registry12WorkerThread15wait_until_cold17h5e41135791901f8fE":                                             {"", true},
		"_ZN15crossbeam_deque5deque16Stealer$LT$T$GT$5steal17h205a97c17e5cccc4E":                                                  {"", true},
		"_RNvMNtNtCsjrHSEGnQ3l9_3std6thread6scopedNtB2_9ScopeData29decrement_num_running_threads":                                 {record.Done, false},
		"_ZN5tokio7runtime9scheduler12multi_thread6worker3run17h0123456789abcdefE":                                                {"", true},
		"_ZN5tokio7runtime8blocking4pool5Inner3run17h0123456789abcdefE":                                                           {},
		"_ZN5tokio7runtime4task6inject15Inject$LT$T$GT$4push17hae629164d348f79eE":                                                 {record.Hands, false},
		"_ZN5tokio7runtime8blocking4pool7Spawner10spawn_task17hf080f0b7edb51dd3E":                                                 {record.Hands, false},
		"_ZN5tokio7runtime9scheduler12multi_thread6worker14block_in_place17h0123456789abcdE":                                      {},
		"_ZN5tokio7runtime9scheduler12multi_thread11MultiThread8block_on17h0123456789abcdE":                                       {},
		"_ZN5tokio7runtime4task3raw4poll17h0123456789abcdefE":                                                                     {},
		"_ZN4mine6thread7executeEv": {},
		"main":                      {},
	} {
		if role, scheduler := role(name); role != want.role || scheduler != want.scheduler {
			t.Errorf("%s: %q, %v", name, role, scheduler)
		}
	}
}

// TestRolesOfTeams: functions of OpenMP's runtimes, where they are linked to the program,
// and of programs that have none in them.
func TestRolesOfTeams(t *testing.T) {
	for name, want := range map[string]struct {
		role string
		is   bool
	}{
		"GOMP_parallel": {"GOMP_parallel", true}, "GOMP_loop_end": {"GOMP_loop_end", true}, "__kmpc_barrier": {"__kmpc_barrier", true},
		"omp_get_thread_num": {"omp_get_thread_num", true}, "omp_get_num_threads_": {"omp_get_num_threads_", true}, "omp_get_grid": {},
		"gomp_team_start": {"", true}, "__kmp_fork_call": {"", true}, "_Z23__kmp_dispatch_init_algoIiEvP5identi10sched_typeT_": {"", true},
		"_ZN11kmp_flag_64ILb0ELb1EE4waitEP8kmp_infoiPv": {"", true}, "_ZN18distributedBarrier10go_releaseEv": {"", true}, "_Z10kmp_searchPKcS0_": {}, "kmp_search": {},
		"omp_init_grid": {}, "main._omp_fn.0": {}, "_Z4workv": {},
	} {
		if role, is := ofTeams(name); role != want.role || is != want.is {
			t.Errorf("%s: %q, %v", name, role, is)
		}
		f := Func{Name: name, Role: want.role, Runtime: want.is}
		if got := f.AsImported(); got != (want.role != "") {
			t.Errorf("%s is called as if it were imported: %v", name, got)
		}
	}
	if f := (Func{Name: "_ZN15crossbeam_deque", Runtime: true}); f.AsImported() {
		t.Error("what looks for tasks is imported")
	}
	for name, want := range map[string]bool{"GOMP_parallel": true, "__kmpc_fork_call": true, "gomp_solve": false} {
		if got := hasTeams(&image.Image{Funcs: []image.Func{{Name: "main"}, {Name: name}}}); got != want {
			t.Errorf("a program with %s has a runtime in it: %v", name, got)
		}
	}
}

// TestReceivesInRust: who receives from a channel of crossbeam's takes what is shared, from
// one of the standard library only under a lock.
func TestReceivesInRust(t *testing.T) {
	for name, want := range map[string]struct{ receives, takes bool }{
		"_ZN17crossbeam_channel7flavors4list16Channel$LT$T$GT$4recv17hc8cea71447bf390bE":      {true, true},
		"_ZN17crossbeam_channel7flavors5array16Channel$LT$T$GT$8try_recv17hc8cea71447bf390bE": {true, true},
		"_ZN3std4sync4mpmc4list16Channel$LT$T$GT$4recv17hef8511716b6c617dE":                   {true, false},
		"_ZN17crossbeam_channel7flavors4list16Channel$LT$T$GT$4send17h28be83c4a96e741eE":      {},
		"_ZN4mine7channel4recv17h28be83c4a96e741eE":                                           {},
	} {
		if h, is := receivesInRust(name); is != want.receives || h.fetches != want.takes || h.unlocks {
			t.Errorf("%s: %v, %+v", name, is, h)
		}
	}
}

// TestOfRust: by how names are mangled.
func TestOfRust(t *testing.T) {
	for name, want := range map[string]bool{"_RNvC4mine4main": true, "_ZN4mine4main17h28be83c4a96e741eE": true, "_ZN4mine4mainEv": false, "main": false} {
		if OfRust(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
