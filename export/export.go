// Package export writes a profile for other people's tools. Each format is a
// package of its own below this one, with a function Write:
//
//	                   ┌─▶ callgrind   KCachegrind, callgrind_annotate: instructions, calls, jumps
//	profile.Profile  ──┼─▶ pprof       go tool pprof, speedscope: instructions and time by line
//	+ named sections   └─▶ perfetto    ui.perfetto.dev: who worked and waited when
//
// They show what was measured, and nothing that was concluded from it: that is
// package report's, whose names for the sections they are given, so that both
// speak of the same. The same profile gives the same bytes.
package export

import "github.com/skewlens/skewlens/profile"

// Section is a section of a profile by the name that its readers know.
type Section struct {
	Name string // unique in its profile
	*profile.Section
}
