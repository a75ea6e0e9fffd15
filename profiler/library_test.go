package profiler_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// perFunction sums each thread's instructions by function.
func perFunction(p *profile.Profile) []map[string]uint64 {
	var all []map[string]uint64
	for _, t := range p.Threads {
		m := map[string]uint64{}
		for _, b := range p.Graph.Blocks {
			if n := t.Totals.Of(b.Count); b.Count != profile.NoEvent && n > 0 {
				m[p.Graph.Functions[b.Function].Name] += n * uint64(b.Instructions)
			}
		}
		all = append(all, m)
	}
	return all
}

// TestLibraries: functions of a shared library that is asked for count as they
// do in a program that holds them itself, and what ends sections in it is seen
// at its line; whether the program needs the library, or it is preloaded.
func TestLibraries(t *testing.T) {
	lib, prog := filepath.Join("testdata", "libphase.cc"), filepath.Join("testdata", "phases.cc")
	for _, opt := range []string{"-O2", "-O0"} {
		whole := proctest.Build(t, "g++", opt, "-g", "-fPIC", "-pthread", prog, lib)
		shared := proctest.Build(t, "g++", opt, "-g", "-fPIC", "-pthread", "-shared", lib)
		dir := t.TempDir()
		so := filepath.Join(dir, "libphase.so.1")
		if err := os.Rename(shared, so); err != nil {
			t.Fatal(err)
		}
		needs := proctest.Build(t, "g++", opt, "-g", "-fPIC", "-pthread", prog, so, "-Wl,-rpath,"+dir)
		early := filepath.Join(dir, "libearly.so") // the same, found first
		if code, err := os.ReadFile(so); err != nil || os.WriteFile(early, code, 0o755) != nil {
			t.Fatal(err)
		}
		want := perFunction(run(t, whole))
		for _, c := range []struct {
			name, so string
			crowded  bool
			env      []string
		}{
			{"needed", so, false, nil},
			{"needed, crowded", so, true, nil},
			{"preloaded", early, false, append(os.Environ(), "LD_PRELOAD="+early)},
		} {
			t.Run(opt+"/"+c.name, func(t *testing.T) {
				pattern := filepath.Base(c.so)
				config := profiler.Config{Path: needs, Env: c.env, Libraries: []string{"none", pattern}}
				if c.crowded {
					config = profiler.Crowded(config)
				}
				p := runWith(t, config)
				if len(p.Program.Libraries) != 1 || p.Program.Libraries[0].Path != c.so {
					t.Fatalf("libraries: %+v", p.Program.Libraries)
				}
				for i, got := range perFunction(p) {
					for _, f := range slices.Sorted(maps.Keys(want[i])) {
						if f != "_init" && got[f] != want[i][f] && !c.crowded {
							t.Errorf("thread %d: %d instructions in %s, %d when it is in the program", i, got[f], f, want[i][f])
						}
					}
				}
				inLibrary := slices.ContainsFunc(p.Sections, func(s profile.Section) bool {
					l, _ := p.Location(s.Site)
					return s.Kind == profile.Barrier && filepath.Base(l.File) == "libphase.cc" && len(s.Instances) >= 26
				})
				if !inLibrary {
					t.Errorf("no section at the library's barrier: %+v", p.Sections)
				}
			})
		}
	}
}

// TestLibrariesByDefault: a library that the program needs counts without being
// asked for, one that is preloaded does not, and with none nothing but the program.
func TestLibrariesByDefault(t *testing.T) {
	dir := t.TempDir()
	so, early := filepath.Join(dir, "libphase.so.1"), filepath.Join(dir, "libearly.so")
	lib := []string{"-O2", "-g", "-fPIC", "-pthread", "-shared", filepath.Join("testdata", "libphase.cc")}
	if err := os.Rename(proctest.Build(t, "g++", append(lib, "-Wl,-soname,libphase.so.1")...), so); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(proctest.Build(t, "g++", append(lib, "-Wl,-soname,libearly.so")...), early); err != nil {
		t.Fatal(err)
	}
	prog := proctest.Build(t, "g++", "-O2", "-g", "-pthread", filepath.Join("testdata", "phases.cc"), so, "-Wl,-rpath,"+dir)
	for _, c := range []struct {
		env, patterns, want []string
	}{
		{nil, nil, []string{so}},
		{nil, []string{"none"}, nil},
		{nil, []string{"none", "libphase"}, []string{so}},
		{append(os.Environ(), "LD_PRELOAD="+early), nil, []string{so}},
		{append(os.Environ(), "LD_PRELOAD="+early), []string{"libearly"}, []string{early, so}},
	} {
		p := runWith(t, profiler.Config{Path: prog, Env: c.env, Libraries: c.patterns})
		var got []string
		for _, l := range p.Program.Libraries {
			got = append(got, l.Path)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("with %q counted are %v, not %v", c.patterns, got, c.want)
		}
	}
}

// TestLibrariesOpened: a library that the program loads while it runs counts
// too, when its path is given; each time that it is loaded.
func TestLibrariesOpened(t *testing.T) {
	lib := proctest.Build(t, "g++", "-O2", "-g", "-fPIC", "-pthread", "-shared", filepath.Join("testdata", "libphase.cc"))
	p := runWith(t, profiler.Config{Path: proctest.Build(t, "g++", "-O2", "-g", "-pthread", filepath.Join("testdata", "opens.cc")), Args: []string{lib}, Libraries: []string{lib}})
	if p.Run.ExitCode != 0 || p.Run.Signal != "" || len(p.Threads) != 9 {
		t.Fatalf("exit status %d, signal %q, %d threads", p.Run.ExitCode, p.Run.Signal, len(p.Threads))
	}
	for _, w := range p.Warnings {
		if w.Code == "library" {
			t.Error(w.Message)
		}
	}
	meetings := 0
	for _, s := range p.Sections {
		if l, _ := p.Location(s.Site); s.Kind == profile.Barrier && filepath.Base(l.File) == "libphase.cc" {
			meetings += len(s.Instances)
		}
	}
	if meetings != 40 {
		t.Errorf("%d meetings at the library's barrier, not 40", meetings)
	}
	counts := perFunction(p)
	for i := 1; i <= 4; i++ { // the same work in both rounds
		for f, n := range counts[i] {
			if counts[i+4][f] != n {
				t.Errorf("%s: %d instructions in the first round, %d in the second", f, n, counts[i+4][f])
			}
		}
		if counts[i]["lib_phase"] == 0 || counts[i]["lib_each"] == 0 {
			t.Errorf("thread %d: %v", i, counts[i])
		}
	}
}

// TestLibrariesOpenedUncounted: of a library that nobody named and that is unloaded again
// it is known that it was there, and that any call by a pointer may lead there.
func TestLibrariesOpenedUncounted(t *testing.T) {
	lib := proctest.Build(t, "g++", "-O2", "-g", "-fPIC", "-pthread", "-shared", filepath.Join("testdata", "libphase.cc"))
	p := runWith(t, profiler.Config{Path: proctest.Build(t, "g++", "-O2", "-g", "-pthread", filepath.Join("testdata", "opens.cc")), Args: []string{lib}})
	if !slices.Equal(p.Program.Uncounted, []string{lib}) {
		t.Errorf("not counted are %v, not %s", p.Program.Uncounted, lib)
	}
	called := map[string]bool{}
	for _, a := range p.Program.LibraryCalls {
		l, _ := p.Location(a)
		called[l.Function] = true
	}
	if !called["run"] || !called["main"] || called["find"] {
		t.Errorf("calls that may lead there are in %v", called)
	}
}

// TestLibrariesNotCounted: what cannot be counted is said, and the rest is.
func TestLibrariesNotCounted(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", example("owner"), "-lm")
	p := runWith(t, profiler.Config{Path: prog, Args: []string{"4", "1"}, Libraries: []string{"libc", "libnone*", "libm"}})
	said := 0
	for _, w := range p.Warnings {
		if w.Code == "library" {
			said++
		}
	}
	if said < 2 || len(p.Sections) == 0 {
		t.Errorf("%d warnings about libraries, %d sections: %+v", said, len(p.Sections), p.Warnings)
	}
}

// TestCallsAcrossLibraries: where a program and a library call each other, the
// graph has edges with the counts of the calls, and nothing enters from START;
// by stubs, by slots, by tail jumps, through pointers, by a function that the
// library chooses (which the dynamic linker asks, from START), and where the program has put its own in place of one.
func TestCallsAcrossLibraries(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O0"}, {"-O2", "-fno-plt"}, {"-O2", "-Wl,-z,lazy"}, {"-O2", "-Wl,-z,now"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			dir := t.TempDir()
			so := filepath.Join(dir, "liborder.so")
			build := func(words ...string) string {
				return proctest.Build(t, "gcc", append(append([]string{"-g"}, flags...), words...)...)
			}
			if err := os.Rename(build("-fPIC", "-shared", filepath.Join("testdata", "liborder.c")), so); err != nil {
				t.Fatal(err)
			}
			prog := build(filepath.Join("testdata", "orders.c"), so, "-Wl,-rpath,"+dir)
			p := runWith(t, profiler.Config{Path: prog, Libraries: []string{"liborder"}})
			got := map[string]uint64{}
			for _, e := range p.Graph.Edges {
				if e.To == profile.NoBlock || e.Count == profile.NoEvent {
					continue
				}
				from, to := "START", p.Graph.Functions[p.Graph.Blocks[e.To].Function].Name
				if e.From != profile.NoBlock {
					from = p.Graph.Functions[p.Graph.Blocks[e.From].Function].Name
				}
				if n := p.Threads[0].Totals.Of(e.Count); n > 0 && (e.Kind.IsCall() || e.Kind == profile.Start) {
					got[from+" "+to] += n
				}
			}
			tail := "prog_tail lib_tail"
			if got[tail] == 0 {
				tail = "main lib_tail" // prog_tail was inlined
			}
			want := map[string]uint64{"main lib_plain": 100, "main lib_chain": 100, "lib_chain lib_plain": 200, "main lib_back": 100,
				"lib_back prog_back": 100, tail: 100, "main lib_taken": 100, "main one": 100, "main lib_asks": 100, "lib_asks lib_replaced": 100}
			for k, n := range want {
				if got[k] != n {
					t.Errorf("%s: %d calls, not %d", k, got[k], n)
				}
			}
			for k, n := range got {
				if _, to, _ := strings.Cut(k, " "); strings.HasPrefix(k, "START ") && (strings.HasPrefix(to, "lib_") && to != "lib_chosen" || strings.HasPrefix(to, "prog_") || to == "one") {
					t.Errorf("%s: %d entries", k, n)
				}
			}
			if t.Failed() {
				t.Log(got)
			}
		})
	}
}

// TestOwnTable: a library that calls its own functions through its table makes threads, and
// joins them, in the middle of those that call.
func TestOwnTable(t *testing.T) {
	lib, prog := filepath.Join("testdata", "libown.c"), filepath.Join("testdata", "own.c")
	want := perFunction(run(t, proctest.Build(t, "gcc", "-O1", "-g", "-pthread", prog, lib)))
	so := proctest.Build(t, "gcc", "-O1", "-g", "-fPIC", "-pthread", "-shared", lib)
	p := runWith(t, profiler.Config{Path: proctest.Build(t, "gcc", "-O1", "-g", "-pthread", prog, so, "-Wl,-rpath,"+filepath.Dir(so)), Libraries: []string{"none", filepath.Base(so)}})
	for _, w := range p.Warnings {
		if w.Code == "inconsistent-counts" {
			t.Error(w.Message)
		}
	}
	for i, got := range perFunction(p) {
		for _, f := range []string{"serve", "begin_one", "end_one"} {
			if got[f] != want[i][f] {
				t.Errorf("thread %d: %d instructions in %s, %d when it is in the program", i, got[f], f, want[i][f])
			}
		}
		if (got["serve_all"] > 0) != (i == 0) {
			t.Errorf("thread %d: %d instructions in serve_all", i, got["serve_all"])
		}
	}
}
