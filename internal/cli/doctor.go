package cli

import (
	"context"
	"io"

	"github.com/skewlens/skewlens/internal/doctor"
	"github.com/skewlens/skewlens/profiler"
)

// doctorCommand checks what this machine allows, and what a program's file says.
func doctorCommand(_ context.Context, stdout, _ io.Writer, args []string) error {
	if len(args) > 1 {
		return usageError("doctor takes at most one program, got %d", len(args))
	}
	findings := doctor.Machine()
	if len(args) == 1 {
		path, err := profiler.Find(args[0], "")
		if err != nil {
			return err
		}
		findings = append(findings, doctor.Program(path)...)
	}
	if !doctor.Write(stdout, findings) {
		return &exitError{status: exitFailed}
	}
	return nil
}
