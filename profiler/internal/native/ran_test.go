package native

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/kept"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
)

// TestRanIsTaken: where what ran is kept, a program is analysed anew and its counters
// stand by it, in this run and the next ones; what is broken is as if it were not there.
func TestRanIsTaken(t *testing.T) {
	im, err := image.Open("/bin/bash")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, analysisName(im, options{}))
	first, err := analyse(im, options{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	first.save()
	if first.spec.Ran().Passed() != 0 {
		t.Error("something ran before the first run")
	}
	ran := make(relocate.Ran, len(first.spec.Plans()))
	for i, q := range first.spec.Plans() {
		for e := range first.spec.Counters(q, first.spec.Program.Graph(q.Func, nil), nil).Edges {
			ran[i] = append(ran[i], byte(i+e))
		}
	}
	kept.Write(ranName(name), ran.Pack)
	whole, err := os.ReadFile(ranName(name))
	if err != nil {
		t.Fatal(err)
	}
	for what, spoilt := range map[string][]byte{"cut short": whole[:len(whole)/2], "empty": nil, "longer": append(whole[:len(whole):len(whole)], 0)} {
		if err := os.WriteFile(ranName(name), spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		if a, err := analyse(im, options{}, dir); err != nil || !a.restored || a.spec.Ran().Passed() != 0 {
			t.Errorf("taken although %s: %v", what, err)
		}
	}
	if err := os.WriteFile(ranName(name), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := analyse(im, options{}, dir)
	if err != nil || a.restored || a.spec.Ran().Passed() != ran.Passed() {
		t.Fatalf("not taken when whole: %v", err)
	}
	if a.spec.Next() != first.spec.Next() {
		t.Errorf("its numbers end at %v, without what ran at %v", a.spec.Next(), first.spec.Next())
	}
	a.save()
	if err := os.Remove(ranName(name)); err != nil {
		t.Fatal(err)
	}
	a, err = analyse(im, options{}, dir)
	if err != nil || !a.restored || a.spec.Ran().Passed() != ran.Passed() {
		t.Errorf("not kept with the analysis: %v", err)
	}
	if err := a.make(a.best() + 1<<20); err != nil || a.spec.Ran().Passed() != ran.Passed() {
		t.Errorf("lost when the copy lies elsewhere: %v", err)
	}
}
