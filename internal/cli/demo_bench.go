package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/skewlens/skewlens/internal/examples"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

// bench builds and measures examples in one directory.
type bench struct {
	dir     string
	cc      examples.Compiler
	threads int
	percent int // of the usual work; 0: all of it
	run     func(context.Context, profiler.Config) (*profile.Profile, error)
	stderr  io.Writer
}

// measureFixed reports on an example with its fix.
func (b *bench) measureFixed(ctx context.Context, name string) (*report.Report, error) {
	return b.measure(ctx, name, name+"-fixed", "-DFIXED")
}

// measure builds source.c as the program out, with flags, and reports on it.
func (b *bench) measure(ctx context.Context, source, out string, flags ...string) (*report.Report, error) {
	if err := b.cc.Build(ctx, b.dir, source, out, flags...); err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	pr := newProgress(b.stderr)
	c := profiler.Config{
		Path: filepath.Join(b.dir, out), Args: []string{strconv.Itoa(b.threads)}, Backend: "auto",
		Stdin: null, Stdout: null, Stderr: os.Stderr,
	}
	if b.percent > 0 {
		c.Args = append(c.Args, strconv.Itoa(b.percent))
	}
	if pr != nil {
		c.Progress = pr.show
	}
	p, err := b.run(ctx, c)
	pr.erase()
	if err != nil {
		return nil, err
	}
	return report.New(p, report.Options{})
}
