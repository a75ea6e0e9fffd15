// Package doctor finds out what this machine allows, and says how to fix what
// it does not.
//
//	/proc, ptrace, perf_event_open, PATH ─▶ Machine ─┐
//	                                                 ├─▶ findings ─▶ Write ─▶ ✓ and ✗, and the fix for a ✗
//	a program's ELF file ─▶ Program ─────────────────┘
//
// It tries things rather than trusting what is written about them: containers
// and virtual machines lie.
package doctor

import (
	"fmt"
	"io"
	"os"

	"github.com/skewlens/skewlens/profiler"
)

// Finding is one line of the doctor.
type Finding struct {
	OK     bool
	Text   string
	Fix    string // what to do when it is not OK
	Needed bool   // without it the native backend cannot work
}

// Machine checks what this machine allows.
func Machine() []Finding {
	return []Finding{
		system(os.ReadFile), cpu(os.ReadFile), fsgsbase(os.ReadFile), timeStampCounter(os.ReadFile),
		tracing(TryTrace()), paranoid(os.ReadFile, os.Geteuid() == 0), counters(profiler.Counters()),
		compiler(), valgrind(),
	}
}

// Write lists findings, and says whether all is there that is needed.
func Write(w io.Writer, findings []Finding) (able bool) {
	able = true
	for _, f := range findings {
		mark := "✓"
		if !f.OK {
			mark = "✗"
			able = able && !f.Needed
		}
		fmt.Fprintf(w, "%s %s\n", mark, f.Text)
		if !f.OK && f.Fix != "" {
			fmt.Fprintf(w, "  → %s\n", f.Fix)
		}
	}
	return able
}
