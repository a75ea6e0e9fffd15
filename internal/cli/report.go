package cli

import (
	"context"
	"flag"
	"io"

	"github.com/skewlens/skewlens/report"
)

func (s *showing) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("report", flag.ContinueOnError)
	s.define(fs)
	return fs
}

// reportCommand reports on a saved profile.
func reportCommand(_ context.Context, stdout, stderr io.Writer, args []string) error {
	var s showing
	fs := s.flags()
	if err := parseAll(fs, args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return usageError("report takes one saved profile, or a directory of ranks' profiles, got %d arguments: see skewlens help report", fs.NArg())
	}
	if err := s.check(fs); err != nil {
		return err
	}
	p, err := load(fs.Arg(0))
	if err != nil {
		return err
	}
	r, err := report.New(p, s.options())
	if err != nil {
		return err
	}
	if s.output == "" {
		s.output = "-" // there is no target whose output it could disturb
	}
	if err := s.write(stdout, stderr, p, r); err != nil {
		return err
	}
	return s.verdict(r)
}
