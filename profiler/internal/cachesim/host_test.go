package cachesim

import (
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// tree is a /sys with caches: level, type, size, ways, line, sets and sharers of
// each, in this order; - stands for a file that is missing.
func tree(caches ...string) fstest.MapFS {
	files := []string{"level", "type", "size", "ways_of_associativity", "coherency_line_size", "number_of_sets", "shared_cpu_list"}
	fs := fstest.MapFS{path.Join(cpus, "online"): {Data: []byte("0-7\n")}}
	for i, c := range caches {
		for j, is := range strings.Fields(c) {
			if is != "-" {
				fs[path.Join(cpus, "cpu0/cache", "index"+string(rune('0'+i)), files[j])] = &fstest.MapFile{Data: []byte(is + "\n")}
			}
		}
	}
	return fs
}

func TestHost(t *testing.T) {
	l1 := Geometry{48 << 10, 12}
	const (
		d1 = "1 Data 48K 12 64 64 0"
		i1 = "1 Instruction 32K 8 64 64 0"
		u2 = "2 Unified 1024K 16 64 1024 0"
	)
	for _, c := range []struct {
		name     string
		sys      fstest.MapFS
		want     Machine
		warnings []string // in part
	}{
		{
			"three levels", tree(i1, d1, u2, "3 Unified 32768K 16 64 32768 0-7"),
			Machine{Line: 64, L1: l1, L2: Geometry{1 << 20, 16}, L3: Geometry{32 << 20, 16}}, nil,
		},
		{
			"no L3", tree(d1, i1, u2),
			Machine{Line: 64, L1: l1, L2: Geometry{1 << 20, 16}}, nil,
		},
		{
			"a sliced L3", tree(d1, u2, "3 Unified 33792K 11 64 49152 0-7"),
			Machine{Line: 64, L1: l1, L2: Geometry{1 << 20, 16}, L3: Geometry{22 << 20, 11}},
			[]string{"the L3 of this machine has 34603008 bytes in 49152 sets, which is no power of two: it is simulated with 32768 sets, 23068672 bytes"},
		},
		{
			"a shared L2", tree("1 Data 32K 8 128 32 0", "2 Unified 4M 16 128 2048 0-7"),
			Machine{Line: 128, L1: Geometry{32 << 10, 8}, L3: Geometry{4 << 20, 16}},
			[]string{"is its last level: it is taken for the L3"},
		},
		{
			"clusters", tree(d1, "2 Unified 2M 16 64 2048 0-3", "3 Unified 32M 16 64 32768 0-3"),
			Machine{Line: 64, L1: l1, L2: Geometry{2 << 20, 16}, L3: Geometry{32 << 20, 16}},
			[]string{"shared by processors 0-3: it is taken for one core's", "shared by processors 0-3 of 0-7 only"},
		},
		{
			"a virtual machine that hides", tree("1 Unified 32K 0 - - 0", "2 Unified - - 64 - 0", "3 Unified - 99 64 1024 -"),
			Machine{Line: 64, L1: Geometry{32 << 10, 8}, L3: Geometry{4 << 20, 64}},
			[]string{"how long its cache lines are: 64", "how many ways its L1 has: 8", "how many ways its L2 has: 16", "how large its L2 is: none", "has 99 ways: 64"},
		},
		{
			"a fourth level", tree(d1, "4 Unified 128M 16 64 131072 0-7"),
			Machine{Line: 64, L1: l1}, []string{"a cache of level 4, which is not simulated"},
		},
	} {
		c.want.Name, c.want.Latency = "host", DefaultLatency
		got, warnings, err := Find("host", c.sys)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
		if !slices.EqualFunc(warnings, c.warnings, strings.Contains) {
			t.Errorf("%s: warnings %q, want %q", c.name, warnings, c.warnings)
		}
	}
}

func TestHostsThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		name string
		sys  fstest.MapFS
		want string
	}{
		{"none", tree(), "no caches are there: name a machine, one of paper, server64, or a file"},
		{"no level", tree("one Data 32K 8 64 64 0"), `index0: level is "one", and no number`},
		{"no size", tree("1 Data big 8 64 64 0"), `size: "big" is no size`},
		{"code only", tree("1 Instruction 32K 8 64 64 0"), "there is no L1"},
		{"long lines", tree("1 Data 32K 8 1024 4 0"), "lines of 1024 bytes cannot be simulated"},
		{"endless lines", tree("1 Data 32K 8 1152921504606846976 4 0"), "cannot be simulated"},
	} {
		_, _, err := Host(c.sys)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// Whatever machine this is: it can be simulated, or it is said why not.
func TestThisHost(t *testing.T) {
	m, _, err := Find("host", nil)
	if err != nil {
		t.Skipf("this machine does not say: %v", err)
	}
	if err := m.Validate(); err != nil {
		t.Error(err)
	}
	s := New(m, 2)
	s.Access(0, 0x1000, 8, true, 1)
	if o := s.Access(0, 0x1000, 8, false, 2); o != (Outcome{}) {
		t.Errorf("%+v: %+v, want a hit", m, o)
	}
}
