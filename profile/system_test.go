package profile

import "testing"

func TestSystem(t *testing.T) {
	for file, want := range map[string]bool{
		"/usr/include/c++/12/bits/std_thread.h":                   true,
		"/usr/include/pthread.h":                                  true,
		"/opt/gcc-13/include/c++/13.1.0/thread":                   true,
		"/usr/lib/gcc/x86_64-linux-gnu/12/include/immintrin.h":    true,
		"/usr/lib/llvm-16/lib/clang/16/include/xmmintrin.h":       true,
		"/opt/llvm/lib/clang/18/include/xmmintrin.h":              true,
		"/rustc/9fc6b431/library/std/src/thread/mod.rs":           true,
		"/usr/src/rustc-1.63.0/library/std/src/thread/mod.rs":     true, // Debian
		"/build/gcc/src/libstdc++-v3/src/c++11/thread.cc":         true,
		"/home/me/project/usr/include/mine.h":                     false,
		"/home/me/include/thread":                                 false,
		"/home/me/src/main.c":                                     false,
		"main.c":                                                  false,
		"/usr/src/mine/main.c":                                    false,
		"_cgo_gotypes.go":                                         true,
		"/tmp/go-build/cgo-gcc-prolog":                            true,
		"/home/me/cgo-work.c":                                     false,
		"/home/me/.cargo/git/checkouts/pool-0f/1a2b/src/lib.rs":   true,
		"/home/me/tool/build/_deps/pool-src/include/pool.hpp":     true,
		"/home/me/.conan2/p/taskf1/p/include/taskflow/x.hpp":      true,
		"/home/me/vcpkg/installed/x64-linux/include/BS_pool.hpp":  true,
		"/home/me/tool/third_party/pool.hpp":                      false, // may be theirs
		"/home/me/deps/pool.hpp":                                  false,
		"/home/me/tool/include/BS_thread_pool.hpp":                true, // which is known
		"/home/me/tool/lib/taskflow/core/executor.hpp":            true,
		"/opt/boost_1_83_0/boost/asio/impl/thread_pool.ipp":       true,
		"/home/me/kokkos/core/src/OpenMP/Kokkos_OpenMP.cpp":       true,
		"/home/me/boost/main.cpp":                                 false,
		"/home/me/taskflow/main.cpp":                              false,
		"/home/me/dlang/dmd-2.105.0/src/phobos/std/stdio.d":       true,
		"/home/me/dlang/ldc-1.30.0/import/core/thread/package.d":  true,
		"/home/me/app/source/std/parallelism.d":                   false,
		"/home/me/.choosenim/toolchains/nim-2.0.0/lib/system.nim": true,
		"stdlib/list.ml":                                          true, // OCaml's
		"otherlibs/systhreads/thread.ml":                          true,
		"stdlib/mine.c":                                           false,
		"/home/me/stdlib/list.ml":                                 false,
	} {
		if System(file) != want {
			t.Errorf("System(%q) is %v", file, !want)
		}
	}
	for _, x := range []struct {
		f    Frame
		want bool
	}{
		{Frame{File: "/usr/include/x.h", Line: 3, Function: "mine"}, true},
		{Frame{File: "/usr/local/go/src/maps/iter.go", Line: 27, Function: "main.work.Keys[go.shape.map[int]int,go.shape.int,go.shape.int].func1"}, true},
		{Frame{File: "/home/me/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.22.12.linux-amd64/src/slices/iter.go", Line: 50, Function: "main.work.func1"}, true},
		{Frame{File: "/usr/local/go/src/cmd/compile/main.go", Line: 27, Function: "main.work"}, false},
		{Frame{File: "/usr/local/go/src/sort/sort_test.go", Line: 27, Function: "sort.work"}, false},
		{Frame{File: "/src/x.c", Line: 3, Function: "__mine"}, false},
		{Frame{Function: "std::thread::join()"}, true},
		{Frame{Function: "void std::call_once<void (x)()>()"}, true},
		{Frame{Function: "work"}, false},
		{Frame{Function: "core.sync.condition.Condition.wait"}, true}, // D's
		{Frame{Function: "app.main.__foreachbody11"}, false},
		{Frame{Function: "caml_thread_join"}, true},
		{Frame{Function: "Stdlib.List.iter"}, true},
		{Frame{Function: "Solver.part"}, false},
		{Frame{Function: "CLASSES.TTHREAD.WAITFOR"}, true},
		{Frame{Function: "system__tasking__stages__complete_master"}, true},
		{Frame{File: "/usr/local/go/src/sync/waitgroup.go", Line: 3, Function: "sync.(*WaitGroup).Wait"}, true},
		{Frame{File: "net/http/server.go", Line: 3, Function: "net/http.(*Server).Serve.gowrap3"}, true}, // -trimpath
		{Frame{File: "/home/me/go/pkg/mod/golang.org/x/sync@v0.1.0/errgroup/errgroup.go", Line: 3, Function: "golang.org/x/sync/errgroup.(*Group).Wait"}, true},
		{Frame{File: "/home/me/src/sort/main.go", Line: 3, Function: "main.main"}, false},
		{Frame{File: "/home/me/sort/sort.go", Line: 3, Function: "sort.Mine"}, false},
		{Frame{File: "/home/me/mine.go", Line: 3, Function: "odd"}, false},
		{Frame{File: "/usr/local/go/src/runtime/asm_amd64.s", Line: 1771, Function: "runtime.goexit"}, true},
		{Frame{File: "/usr/local/go/src/sort/sort_test.go", Line: 3, Function: "sort.TestMine"}, false},
		{Frame{File: "/home/me/runtime/mine.s", Line: 3, Function: "mine"}, false},
		{Frame{}, false},
	} {
		if x.f.System() != x.want {
			t.Errorf("%+v: System is %v", x.f, !x.want)
		}
	}
	in, out := Frame{File: "/usr/include/c++/12/thread", Line: 1}, Frame{File: "/src/x.cc", Line: 2}
	for n, l := range map[int]Location{0: {Frame: in}, 1: {Frame: in, InlinedAt: []Frame{out, in}}, 2: {Frame: in, InlinedAt: []Frame{in, out, out}}} {
		if l.Outside() != n {
			t.Errorf("%+v: %d frames are left out, want %d", l, l.Outside(), n)
		}
	}
}

func TestModule(t *testing.T) {
	for file, want := range map[string]string{
		"/home/me/go/pkg/mod/github.com/x/conc@v0.3.0/pool/pool.go":       "/home/me/go/pkg/mod/github.com/x/conc@v0.3.0",
		"github.com/x/conc/v2@v2.0.0-20240102030405-0123456789ab/pool.go": "github.com/x/conc/v2@v2.0.0-20240102030405-0123456789ab", // -trimpath
		"/home/me/tool/vendor/github.com/x/conc/pool.go":                  "/home/me/tool/vendor",
		"/home/me/tool/main.go":                                           "",
		"/home/me/tool/third_party/pool/src/pool.cc":                      "/home/me/tool/third_party/pool",
		"/home/me/tool/extern/json/third_party/pool/pool.hpp":             "/home/me/tool/extern/json/third_party/pool",
		"/home/me/tool/deps/pool.hpp":                                     "/home/me/tool/deps/pool.hpp",
		"/home/me/tool/src/deps.cc":                                       "",
		"/home/me@v/main.go":                                              "/home/me@v",
		"main.go":                                                         "",
		"x@v1":                                                            "",
	} {
		if got := Module(file); got != want {
			t.Errorf("Module(%q) is %q, want %q", file, got, want)
		}
	}
}
