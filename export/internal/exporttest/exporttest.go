// Package exporttest is what the tests of the exporters share: two profiles, in
// export/testdata as text, and what their readers should find in them.
package exporttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/export"
	"github.com/skewlens/skewlens/profile"
)

// Called is a program of two functions in which two threads ran: main calls
// work, twice from one place in a loop, and work has a part inlined from a
// header. Each thread waits for the other in a loop that spins.
func Called(t testing.TB) (*profile.Profile, []export.Section) {
	t.Helper()
	p := read(t, "called.txt")
	return p, []export.Section{{Name: "called.c:23", Section: &p.Sections[0]}}
}

// Mixed has no times, two sections on one line, one of whole threads and one
// that was never completed; the sections are in a report's order.
func Mixed(t testing.TB) (*profile.Profile, []export.Section) {
	t.Helper()
	p := read(t, "mixed.txt")
	return p, []export.Section{
		{Name: "radix.cc:50", Section: &p.Sections[1]}, {Name: "radix.cc:50#2", Section: &p.Sections[0]},
		{Name: "threads", Section: &p.Sections[2]}, {Name: "0x1500", Section: &p.Sections[3]},
	}
}

func read(t testing.TB, name string) *profile.Profile {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.ReadText(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Executed is what a profile's threads executed in all, spinning included.
func Executed(p *profile.Profile) (n uint64) {
	for i := range p.Threads {
		c := p.Threads[i].Totals
		for k, e := range c.Event {
			if ev := &p.Events[e]; ev.Kind == profile.BlockEntered {
				n += c.N[k] * uint64(p.Graph.Blocks[ev.Block].Instructions)
			}
		}
	}
	return n
}

// Tool finds a program that a test compares with. Where everything is said to
// be installed, its absence is a failure.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", name)
	}
	t.Skipf("%s is missing", name)
	return ""
}
