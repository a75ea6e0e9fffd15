package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/skewlens/skewlens/profiler"
)

// finding is one line of the doctor: ✓ or ✗, and the mend for a ✗.
type finding struct {
	ok   bool
	text string
	mend string
	// needed: without it the native backend cannot work.
	needed bool
}

// doctorCommand checks what this machine allows. It tries things rather than
// trusting what is written about them: containers and virtual machines lie.
func doctorCommand(_ context.Context, stdout, _ io.Writer, args []string) error {
	if len(args) > 1 {
		return usageError("doctor takes at most one program, got %d", len(args))
	}
	findings := []finding{checkSystem(), checkCPU(), checkFSGSBase(), checkTSC(), checkPtrace(), checkParanoid(), checkPMU(), checkCompiler(), checkValgrind()}
	if len(args) == 1 {
		path, err := profiler.Find(args[0], "")
		if err != nil {
			return err
		}
		findings = append(findings, checkProgram(path)...)
	}
	able := true
	for _, f := range findings {
		mark := "✓"
		if !f.ok {
			mark = "✗"
			able = able && !f.needed
		}
		fmt.Fprintf(stdout, "%s %s\n", mark, f.text)
		if !f.ok && f.mend != "" {
			fmt.Fprintf(stdout, "  → %s\n", f.mend)
		}
	}
	if !able {
		return &exitError{status: exitFailed}
	}
	return nil
}
