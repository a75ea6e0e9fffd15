package workspace

import (
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/text"
)

func FuzzScan(f *testing.F) {
	f.Add("int x; /* BARRIER() */ pthread_join(a, b); // x\n#pragma omp parallel for\n a / b / c\n/*")
	f.Fuzz(func(t *testing.T, s string) {
		x := text.New(s)
		for _, l := range []string{"c", "rust", "fortran", "go"} {
			for _, line := range scan(x, l, "") {
				if line < 0 || line >= x.Lines() {
					t.Fatal(line)
				}
			}
		}
	})
}

func TestScan(t *testing.T) {
	for line, want := range map[string]bool{
		"  pthread_barrier_wait(&b);":                  true,
		"    pthread_join(t[i], NULL);":                true,
		"  BARRIER(Global->start, P)":                  true,
		"#define BARRIER(b) {pthread_mutex_lock(b)":    false,
		"  BARRIER_INIT(x, 4);":                        false,
		"  BARINIT(x)":                                 false,
		"  sync.arrive_and_wait();":                    true,
		"  worker.join();":                             true,
		"  this->threads[i]->join();":                  true,
		"#pragma omp parallel for":                     true,
		"# pragma omp target teams parallel":           true,
		"#pragma omp atomic":                           false,
		"// pthread_join(a, b)":                        false,
		"/* pthread_join( */ f();":                     false,
		"/* x */ pthread_join(a, b); /*":               true,
		"extern int pthread_join(pthread_t, void**);":  false,
		"int joined(int x);":                           false,
		"a = b / c / d; pthread_join(a, 0);":           true,
		"tbb::parallel_for(0, n, [&](int i) {":         true,
		"oneapi::tbb::parallel_reduce(r, 0, f, g);":    true,
		"std::sort(std::execution::par, a, b);":        true,
		"std::sort(std::execution::seq, a, b);":        false,
		"int parallel_for_depth;":                      false,
		"parlay::parallel_for(0, n, [&] (long i) {":    true,
		"  Kokkos::parallel_reduce(\"sum\", n, f, s);": true,
		"  parallel_for<Index>(0, n, f);":              true,
		"void parallel_for(size_t n, F&& f) {":         false,
		"INLINE int pthread_join(pthread_t t) {":       false,
		"else pthread_barrier_wait(&b);":               true,
		"  return pthread_join(t, NULL);":              true,
		"  MEM_BARRIER();":                             false,
		"  LF_BARRIER_ACQUIRE();":                      false,
		"  BARRIER();":                                 true,
		"  THREAD_BARRIER(team)":                       true,
		"static DEFINE_BARRIER(test_barrier);":         false,
		`Kokkos::parallel_for("x", n, f);`:             true,
		"RAJA::forall<policy>(range, f);":              true,
		"cv::parallel_for_(cv::Range(0, n), f);":       true,
		"QtConcurrent::blockingMap(list, f);":          true,
		"QtConcurrent::run(f);":                        false,
		"executor.run(graph).wait();":                  true,
		"executor.run_n(graph, 4).get();":              true,
		"auto f = executor.run(graph);":                false,
		"for (auto &x : forall) x.wait();":             false,
	} {
		if got := len(scan(text.New(line), "c", "")) == 1; got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	for line, want := range map[string]bool{
		"  h.join().unwrap();":               true,
		"let s: u64 = v.par_iter().sum();":   true,
		"v.par_sort_unstable();":             true,
		"(0..n).into_par_iter().for_each(f)": true,
		"thread::scope(|s| {":                true,
		"rayon::join(|| a(), || b());":       true,
		"let scope = 1;":                     false,
		"v.iter().sum()":                     false,
		"/// t.join().unwrap();":             false,
		"//! thread::scope(|s| {":            false,
		"/* h.join() */":                     false,
		"    for h in hs { h.join()?; }":     true,
	} {
		if got := len(scan(text.New(line), "rust", "")) == 1; got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	if len(scan(text.New("!$OMP PARALLEL DO"), "", "a.f90")) != 1 || len(scan(text.New("pthread_join("), "python", "a.py")) != 0 {
		t.Error("other languages")
	}
}

// In Go, groups of goroutines are waited for, and other things are not.
func TestScanGo(t *testing.T) {
	for source, want := range map[string]bool{
		"var wg sync.WaitGroup\n\twg.Wait()":                             true,
		"type pool struct {\n\tdone sync.WaitGroup\n}\n\tp.done.Wait()":  true,
		"wg := &sync.WaitGroup{}\nwg.Wait()":                             true,
		"wg := new(sync.WaitGroup)\nwg.Wait()":                           true,
		"g, ctx := errgroup.WithContext(ctx)\nreturn g.Wait()":           true,
		"var g errgroup.Group\nif err := g.Wait(); err != nil {":         true,
		"func f(wg *sync.WaitGroup) {\n\tdefer wg.Wait()":                true,
		"var wg conc.WaitGroup\nwg.Wait()":                               true,
		"b.RunParallel(func(pb *testing.PB) {":                           true,
		"var wg sync.WaitGroup\n// wg.Wait()":                            false,
		"var wg sync.WaitGroup\ncmd.Wait()":                              false,
		"cond := sync.NewCond(&mu)\ncond.Wait()":                         false,
		"cmd := exec.Command(name)\nif err := cmd.Wait(); err != nil {}": false,
	} {
		if got := len(scan(text.New(source), "go", "")) == 1; got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}

// A workspace is somebody else's. To open, edit, hover and save in it builds,

// runs and writes nothing, whatever it holds; what is wrong with its

// configuration is said there, on its line.

// TestScanOthers: where other languages end their threads and tasks.
func TestScanOthers(t *testing.T) {
	for _, x := range []struct {
		path, line string
		want       bool
	}{
		{"a.d", "foreach (t; ts) t.join();", true},
		{"a.d", "foreach (i; taskPool.parallel(iota(n))) {", true},
		{"a.d", "import std.parallelism;", false},
		{"a.nim", "joinThreads(ts)", true},
		{"a.nim", "let path = dir.joinPath(name)", false},
		{"a.ml", "List.iter Domain.join ds", true},
		{"a.ml", "String.join sep", false},
		{"a.pas", "Workers[I].WaitFor;", true},
	} {
		if got := len(scan(text.New(x.line), "", x.path)) == 1; got != x.want {
			t.Errorf("%s: %q: %v, want %v", x.path, x.line, got, x.want)
		}
	}
}

// What a compiler adds to a file stands on a line of it, which may be a comment: there is
// nothing to be seen there.
func TestNoSiteInAComment(t *testing.T) {
	d := &Document{Path: "/w/lib.rs", Text: text.New("//! An example\n\n    h.join().unwrap();\n")}
	d.sites.lines = []text.Point{{Line: 0}, {Line: 2}}
	if lines := d.SiteLines(); len(lines) != 1 || !lines[2] {
		t.Errorf("sites on %v", lines)
	}
}
