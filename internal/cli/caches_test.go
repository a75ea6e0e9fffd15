package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

// TestCaches: what programs were planted with is what simulated caches show: the
// line that misses, why, and whose writes take lines away; a loop that misses more
// because it runs longer is a loop; where all miss alike there is nothing.
func TestCaches(t *testing.T) {
	realBench(t, 1)
	files, err := filepath.Glob("testdata/caches/*.c")
	if err != nil || len(files) != 6 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			i := idiom{file: filepath.Base(file), lines: strings.Split(string(text), "\n")}
			prog := filepath.Join(t.TempDir(), "prog")
			if err := runCompiler("gcc", "-O2", "-g", "-pthread", "-o", prog, file); err != nil {
				t.Fatal(err)
			}
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer null.Close()
			for _, sets := range []int{1, 8} {
				if sets > 1 && filepath.Base(file) == "neighbours.c" {
					continue // of one line, which may be in no sample
				}
				p, err := profiler.Run(t.Context(), profiler.Config{Path: prog, Args: []string{"4"}, Events: []string{"edges", "cache"}, Machine: "server64", SampleSets: sets,
					Stdin: null, Stdout: null, Stderr: os.Stderr})
				if err != nil {
					t.Fatal(err)
				}
				r, err := report.New(p, report.Options{})
				if err != nil {
					t.Fatal(err)
				}
				judgeCaches(t, &i, r)
			}
		})
	}
}

func judgeCaches(t *testing.T, i *idiom, r *report.Report) {
	j := judge{b: &idiomBench{idiom: i}}
	s := j.sectionAt(r, "SECTION")
	if s == nil || s.Imbalance == nil || r.Run.Response != "modelled-cycles" || r.Run.Machine == "" {
		t.Fatalf("no section, or no machine %q:\n%s", r.Run.Machine, summary(r))
	}
	if len(i.marked("PAGEFAULT")) > 0 && !slices.ContainsFunc(s.Waits, func(w report.Wait) bool { return w.Kind == "fault" }) {
		t.Skip("page faults cannot be watched here: see skewlens doctor")
	}
	if len(s.Causes) == 0 {
		if len(i.marked("MISS"))+len(i.marked("CONTROL")) > 0 {
			t.Errorf("no cause:\n%s", summary(r))
		}
		return
	}
	c := s.Causes[0]
	why := c.Miss
	if c.Sharing != "" {
		why = c.Sharing
	}
	switch {
	case i.at(c.Location.Place, "PAGEFAULT"):
		if n := slices.Max(c.Counts); c.Kind != "page-fault" || len(s.Causes) > 1 || n < 30000 || n > 34000 || c.Share < 0.8 {
			t.Errorf("%s, share %v, %v, and %d more causes", c.Kind, c.Share, c.Counts, len(s.Causes)-1)
		}
	case i.at(c.Location.Place, "CONTROL"):
		if c.Leader != "loop" || len(s.Causes) > 1 {
			t.Errorf("%s, and %d more causes", c.Leader, len(s.Causes)-1)
		}
	case !i.at(c.Location.Place, "MISS "+why) || c.Kind != "cache-miss" || len(c.Misses) != len(s.Threads) || c.Share < 0.6 || c.Erased == nil || *c.Erased < 0.6:
		t.Errorf("%s %s (%s) at %v, share %v, %v", c.Level, c.Kind, why, c.Location.Place, c.Share, c.Misses)
	case why == "false" && (c.Partner == nil || !i.at(c.Partner.Place, "MISS false")), why == "true" && (c.Partner == nil || !i.at(c.Partner.Place, "WRITE")):
		t.Errorf("taken away by %+v", c.Partner)
	}
}
