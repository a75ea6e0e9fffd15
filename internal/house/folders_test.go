package house

import (
	"maps"
	"slices"
	"testing"
)

// mostLines: what is longer has more than one idea.
const mostLines = 600

func TestFilesAreShort(t *testing.T) {
	for _, f := range goFiles(t) {
		if !f.test() && f.lines > mostLines {
			t.Errorf("%s has %d lines, want at most %d: split it by idea", f.name, f.lines, mostLines)
		}
	}
}

// The names of the folders and the package comments are what a newcomer reads
// first.
func TestFoldersSayWhatTheyAreFor(t *testing.T) {
	comments := map[string][]string{}
	for _, f := range goFiles(t) {
		if f.test() {
			continue
		}
		in := comments[f.folder()]
		if f.syntax.Doc != nil {
			in = append(in, f.name)
		}
		comments[f.folder()] = in
	}
	for _, folder := range slices.Sorted(maps.Keys(comments)) {
		switch in := comments[folder]; {
		case len(in) == 0:
			t.Errorf("%s has no package comment: say what the package is for, with a diagram of what flows through it", folder)
		case len(in) > 1:
			t.Errorf("%s has %d package comments, in %q: leave one", folder, len(in), in)
		}
	}
}
