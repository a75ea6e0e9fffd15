package callgrind

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/export/internal/exporttest"
	"github.com/skewlens/skewlens/internal/golden"
	"github.com/skewlens/skewlens/profile"
)

// instructions are those of the program called.
func instructions(start, end profile.Addr) []profile.Addr {
	in := []profile.Addr{}
	for _, a := range []profile.Addr{0x1000, 0x1002, 0x1004, 0x1008, 0x1010, 0x1014, 0x101c, 0x102f, 0x1040, 0x1044, 0x1048, 0x104c, 0x1050} {
		if a >= start && a < end {
			in = append(in, a)
		}
	}
	return in
}

func lineOf(a profile.Addr) (profile.Location, bool) {
	l := profile.Location{Address: a, Frame: profile.Frame{File: "/src/called.c", Line: 100 + int(a&0xff), Function: "main"}}
	return l, a == 0x1002
}

func callgrindOf(t *testing.T, p *profile.Profile, opt Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoldenCallgrind(t *testing.T) {
	p, _ := exporttest.Called(t)
	golden.Check(t, "called.callgrind", []byte(callgrindOf(t, p, Options{})))
	golden.Check(t, "called-instructions.callgrind", []byte(callgrindOf(t, p, Options{Instructions: instructions, Locate: lineOf})))
}

// partCosts adds up the self costs of each part of a file. Lines after calls=
// and jumps are no self costs.
func partCosts(t *testing.T, file string) map[string]uint64 {
	t.Helper()
	sums, thread, skip := map[string]uint64{}, "", false
	for _, l := range strings.Split(file, "\n") {
		switch {
		case strings.HasPrefix(l, "thread: "):
			thread = strings.TrimPrefix(l, "thread: ")
		case strings.HasPrefix(l, "calls="), strings.HasPrefix(l, "jump="), strings.HasPrefix(l, "jcnd="):
			skip = true
		case strings.HasPrefix(l, "0x"):
			if skip {
				skip = false
				continue
			}
			f := strings.Fields(l)
			n, err := strconv.ParseUint(f[2], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sums[thread] += n
		}
	}
	return sums
}

func TestCallgrindCostsAreTheCounts(t *testing.T) {
	p, _ := exporttest.Called(t)
	for _, opt := range []Options{{}, {Instructions: instructions}} {
		if got := partCosts(t, callgrindOf(t, p, opt)); got["0"] != 41 || got["1"] != 13 {
			t.Errorf("costs %v, want 41 and 13", got)
		}
	}
	// Where a frame stood for good, the rest of its block was not executed.
	p.Threads[1].Active = []profile.Addr{0x104c}
	if got := partCosts(t, callgrindOf(t, p, Options{Instructions: instructions})); got["0"] != 41 || got["1"] != 12 {
		t.Errorf("costs %v with an active frame, want 41 and 12", got)
	}
	// A decoder that disagrees with the profile is not believed.
	wrong := func(start, end profile.Addr) []profile.Addr {
		return []profile.Addr{start, start + 1, start + 2, start + 3, start + 4}
	}
	if got := partCosts(t, callgrindOf(t, p, Options{Instructions: wrong})); got["0"] != 41 || got["1"] != 13 {
		t.Errorf("costs %v with a wrong decoder, want 41 and 13", got)
	}
}

// What calls cost is written only where it follows from the counts.
func TestCallgrindInclusiveCosts(t *testing.T) {
	inner := func(change func(p *profile.Profile)) string {
		p, _ := exporttest.Called(t)
		change(p)
		out := callgrindOf(t, p, Options{})
		return regexp.MustCompile(`calls=\d+ 0x1040 5\n0x1014 23 ?(\d*)\n`).FindStringSubmatch(out)[1]
	}
	for _, c := range []struct {
		name, want string
		change     func(p *profile.Profile)
	}{
		{"one caller", "30", func(*profile.Profile) {}},
		{"two places call", "", func(p *profile.Profile) {
			p.Graph.Edges = append(p.Graph.Edges, profile.Edge{From: 0, To: 3, Kind: profile.Call, Site: 0x1004, Count: p.Graph.Blocks[0].Count})
		}},
		{"a place whose count is not known", "", func(p *profile.Profile) {
			p.Graph.Edges = append(p.Graph.Edges, profile.Edge{From: 0, To: 3, Kind: profile.Indirect, Site: 0x1004, Count: profile.NoEvent})
		}},
		{"it calls itself", "30", func(p *profile.Profile) {
			p.Graph.Edges = append(p.Graph.Edges, profile.Edge{From: 3, To: 3, Kind: profile.Call, Site: 0x1044, Count: p.Graph.Blocks[3].Count})
		}},
		{"it calls its caller", "", func(p *profile.Profile) {
			p.Graph.Edges = append(p.Graph.Edges, profile.Edge{From: 3, To: 0, Kind: profile.Call, Site: 0x1044, Count: p.Graph.Blocks[3].Count})
		}},
		{"a library called it too", "", func(p *profile.Profile) {
			for i, e := range p.Graph.Edges {
				if e.Kind == profile.Start && e.To == 3 {
					p.Threads[0].Totals = p.Threads[0].Totals.Plus(profile.Counts{Event: []profile.EventID{p.Graph.Edges[i].Count}, N: []uint64{1}})
				}
			}
		}},
	} {
		if got := inner(c.change); got != c.want {
			t.Errorf("%s: inclusive cost %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCallgrindAnnotateReadsIt(t *testing.T) {
	annotate := exporttest.Tool(t, "callgrind_annotate")
	p, _ := exporttest.Called(t)
	for name, opt := range map[string]Options{"blocks": {}, "instructions": {Instructions: instructions, Locate: lineOf}} {
		file := filepath.Join(t.TempDir(), "callgrind.out.1")
		if err := os.WriteFile(file, []byte(callgrindOf(t, p, opt)), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(annotate, "--threshold=100", "--tree=both", file)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		for _, want := range []string{
			fmt.Sprintf(`(?m)^%d \(100\.0%%\)  PROGRAM TOTALS`, exporttest.Executed(p)),
			`(?m)^ ?34 .*/src/wait\.h:work`,
			`(?m)^30 .*>  +/src/called\.c:work \(2x\)`,
		} {
			if !regexp.MustCompile(want).Match(out) {
				t.Errorf("%s: want %s in\n%s", name, want, out)
			}
		}
	}
}
