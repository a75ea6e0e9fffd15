package dwarfmap

import (
	"strings"
	"testing"
)

// TestDemangled: names of C++, Rust and D, with what compilers put behind them; in older
// Rust's there are dots. Those of D are c++filt's, but for parameters, templates' arguments
// and names that are said twice.
func TestDemangled(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN4solv4gridEi":                           "solv::grid",
		"_ZN4solv4gridEi.part.0":                    "solv::grid.part.0",
		"main._omp_fn.0":                            "main._omp_fn.0",
		"_Znot.a.name":                              "_Znot.a.name",
		"_ZN4demo4sort17h72baf3432fcb62dbE":         "demo::sort",
		"_ZN4demo4sort17h72baf3432fcb62dbE.llvm.12": "demo::sort.llvm.12",
		"_ZN69_$LT$demo..quicksort..Parallel$u20$as$u20$demo..quicksort..Joiner$GT$4join17h72baf3432fcb62dbE": "<demo::quicksort::Parallel as demo::quicksort::Joiner>::join",
		"_D3app4workFmmZm":                                                                                                            "app.work",
		"_D3app4mainFAAyaZ15__foreachbody11MFiZi":                                                                                     "app.main.__foreachbody11",
		"_D3std11parallelism__T4TaskSQBaQz3runTDFZvZQv4implFPvZv":                                                                     "std.parallelism.Task.impl",
		"_D4core4sync5mutex5Mutex__T12lock_nothrowTCQBpQBnQBlQBiZQBdMFNbNiNeZv":                                                       "core.sync.mutex.Mutex.lock_nothrow",
		"_D4core6atomic__T10atomicLoadVEQBdQBb11MemoryOrderi2TE3std8LogLevelZQCxFNaNbNiNeKxEQCbQBpQBlZQCs":                            "core.atomic.atomicLoad",
		"_D3std3uni__T9sliceBitsVmi9Vmi4294967295ZQBc__T6opCallTwZQkFNaNbNiNfwZk":                                                     "std.uni.sliceBits.opCall",
		"_D3std3zip__T4findVAyaa6_61203d3d2062TQtZ4findFQyMQBbZm":                                                                     "std.zip.find",
		"_D3std7variant17__T8VariantNVk20Z8VariantN6__ctorMFZv":                                                                       "std.variant.VariantN.this",
		"_D2rt7hasDtorFxC8TypeInfoZb.localalias":                                                                                      "rt.hasDtor.localalias",
		"_D3std11concurrency__T8initOnceS_DQBg11parallelism8taskPoolFNdNeZ4poolCQCrQBl8TaskPoolZQCnFNcLQyZ12__dgliteral2MFNaNiNfZQBy": "std.concurrency.initOnce.__dgliteral2",
		"_Dmain":      "D main",
		"_DYNAMIC":    "_DYNAMIC",
		"_D99app":     "_D99app",
		"_D3app__TQf": "_D3app__TQf",
	} {
		if got := demangled(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestWritten: names of OCaml and Free Pascal.
func TestWritten(t *testing.T) {
	for name, want := range map[string]string{
		"camlUnix__write_substring_617":              "Unix.write_substring",
		"camlStdlib__List__iter_507":                 "Stdlib.List.iter",
		"camlSolver$part_144":                        "Solver.part",
		"camlUnix__code_begin":                       "camlUnix__code_begin",
		"caml_thread_join":                           "caml_thread_join",
		"BASEUNIX_$$_FD_SET$LONGINT$TFDSET$$LONGINT": "BASEUNIX.FD_SET",
		"CLASSES$_$TTHREAD_$__$$_WAITFOR$$LONGINT":   "CLASSES.TTHREAD.WAITFOR",
		"P$SOLVER_$$_WORK$QWORD$QWORD$$QWORD":        "SOLVER.WORK",
		"U_$SOLVER_$$_RESULTS":                       "U_$SOLVER_$$_RESULTS",
		"main._omp_fn.0":                             "main._omp_fn.0",
	} {
		if got := written(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestNamesInCircles: names of D that refer to themselves, over and over, are given up.
func TestNamesInCircles(t *testing.T) {
	twice := "_D3app1f"
	for range 24 {
		twice += "__T1gTQbTQeTQhZ"
	}
	for _, name := range []string{twice, "_D" + strings.Repeat("__T", 500), "_D1f" + strings.Repeat("A", 500), "_D1aQbQbQb", "_D1aFQbQcQdZv"} {
		if len(demangled(name)) > 4*len(name) {
			t.Errorf("%s became %s", name, demangled(name))
		}
	}
}
