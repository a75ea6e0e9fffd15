// Package export writes a profile for other people's tools. Each format is a
// package of its own below this one, with a function Write:
//
//	                   ┌─▶ callgrind   KCachegrind, callgrind_annotate: instructions, calls, jumps
//	profile.Profile  ──┼─▶ pprof       go tool pprof, speedscope: instructions and time by line
//	+ named sections   └─▶ perfetto    ui.perfetto.dev: who worked and waited when
//
// They show what was measured. What was concluded from it is package report's, whose
// names for the sections they are given, so that both speak of the same, and the
// critical path. The same profile gives the same bytes.
package export

import "github.com/skewlens/skewlens/profile"

// Step is a stretch of a thread on the run's critical path.
type Step struct {
	Thread       profile.ThreadID
	FromNS, ToNS int64 // since the run's start
}

// Section is a section of a profile by the name that its readers know.
type Section struct {
	Name string // unique in its profile
	*profile.Section
}
