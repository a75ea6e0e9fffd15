package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

// dealt is a program of testdata/dealt.
type dealt struct {
	file, compiler, level string
	out                   string
	threads               int
}

func (d *dealt) build(t *testing.T) {
	t.Helper()
	compiler := d.compiler
	if filepath.Ext(d.file) == ".cc" {
		compiler = map[string]string{"gcc": "g++", "clang": "clang++"}[compiler]
	}
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip(err)
	}
	words := []string{compiler, d.level, "-g", "-pthread"}
	if filepath.Ext(d.file) == ".cc" {
		words = append(words, "-std=c++20")
	}
	d.out = filepath.Join(t.TempDir(), "prog")
	if err := runCompiler(append(words, filepath.Join("testdata/dealt", d.file), "-o", d.out)...); err != nil {
		t.Fatal(err)
	}
}

// run profiles the program, kept together as on a core for each thread. The section
// is the one that does most.
func (d *dealt) run(t *testing.T, costs, dealing string) (*report.Section, *profile.Section) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := profiler.Run(ctx, profiler.Config{Path: d.out, Args: []string{strconv.Itoa(d.threads), costs, dealing},
		Stdin: null, Stdout: null, Stderr: os.Stderr, Cores: d.threads, Units: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.New(p, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := slices.MaxFunc(r.Sections, func(a, b report.Section) int { return cmp.Compare(a.Critical, b.Critical) })
	of, err := r.SectionsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Sections {
		if r.Sections[i].ID == s.ID {
			return &s, of[i]
		}
	}
	t.Fatal("no section")
	return nil, nil
}

const dealtUnits = 600 // of a round

// TestUnits: how units are dealt is seen, and their instructions are those that the
// parts executed.
func TestUnits(t *testing.T) {
	realBench(t, 1)
	for _, d := range []dealt{
		{file: "dealt.c", compiler: "gcc", level: "-O0"}, {file: "dealt.c", compiler: "gcc", level: "-O2"}, {file: "dealt.c", compiler: "gcc", level: "-O3"},
		{file: "dealt.c", compiler: "clang", level: "-O0"}, {file: "dealt.c", compiler: "clang", level: "-O2"},
		{file: "dealt.cc", compiler: "gcc", level: "-O2"}, {file: "dealt.cc", compiler: "gcc", level: "-O3"}, {file: "dealt.cc", compiler: "clang", level: "-O2"},
	} {
		t.Run(d.file+" "+d.compiler+d.level, func(t *testing.T) {
			d.threads = 4
			d.build(t)
			for dealing, want := range map[string]profile.DealtBy{"blocks": profile.DealtInBlocks, "turns": profile.DealtInTurns, "owner": profile.DealtByOwner, "demand1": profile.DealtOnDemand} {
				r, s := d.run(t, "random", dealing)
				u := s.Units
				if u == nil {
					t.Errorf("%s: no units", dealing)
					continue
				}
				if u.Dealt != want {
					t.Errorf("%s: dealt by %q", dealing, u.Dealt)
				}
				if len(u.Rounds) != len(s.Instances) {
					t.Errorf("%s: units of %d instances, of %d", dealing, len(u.Rounds), len(s.Instances))
				}
				most := uint64(0)
				for _, y := range u.Rounds {
					n, sums := uint32(0), slices.Clone(y.Rest)
					for _, x := range y.Units {
						n += x.N
						sums[x.Part] += x.Cost
					}
					if n != dealtUnits {
						t.Errorf("%s: %d units", dealing, n)
					}
					most += slices.Max(sums)
				}
				if most != r.Critical {
					t.Errorf("%s: units and what is besides make %d instructions, the parts %d", dealing, most, r.Critical)
				}
			}
		})
	}
}

// TestCures: what another dealing is said to save is what the program saves when it is
// changed so.
func TestCures(t *testing.T) {
	realBench(t, 1)
	for _, d := range []dealt{{file: "dealt.c", compiler: "gcc"}, {file: "dealt.cc", compiler: "gcc"}} {
		d.level, d.threads = "-O2", 8
		t.Run(d.file, func(t *testing.T) {
			d.build(t)
			for _, costs := range []string{"triangular", "power-law", "one-huge", "alternating", "random"} {
				d.cures(t, costs)
			}
		})
	}
}

// cures deals units of some cost otherwise than in blocks.
func (d *dealt) cures(t *testing.T, costs string) {
	before, _ := d.run(t, costs, "blocks")
	if before.Units == nil {
		t.Errorf("%s: no units", costs)
		return
	}
	for _, x := range []struct {
		dealing, how string
		chunk        int
	}{{"turns", "turns", 0}, {"demand1", "demand", 1}, {"demand4", "demand", 4}, {"demand16", "demand", 16}, {"longest-first", "longest-first", 0}} {
		i := slices.IndexFunc(before.Dealings, func(d report.Dealing) bool { return d.How == x.how && d.Chunk == x.chunk })
		saves := func() float64 {
			after, _ := d.run(t, costs, x.dealing)
			return 1 - float64(after.Critical)/float64(before.Critical)
		}
		said, really := before.Dealings[i].Saving, saves()
		for again := 2; again > 0 && math.Abs(said-really) > 0.05; again-- { // who takes what is chance on a busy machine
			really = saves()
		}
		what := fmt.Sprintf("%s costs: %s is said to save %.1f %%, and saves %.1f %%", costs, x.dealing, 100*said, 100*really)
		if math.Abs(said-really) > 0.05 {
			t.Error(what)
		} else {
			t.Log(what)
		}
	}
}
