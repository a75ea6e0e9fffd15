package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/skewlens/skewlens/profile"
)

type runConfig struct {
	Path                  string
	Args, Env             []string
	Dir                   string
	Backend               string
	Stdin, Stdout, Stderr *os.File
	Progress              func(runProgress)
}
type runProgress struct {
	Elapsed            time.Duration
	Threads, Instances int
}

func run(ctx context.Context, c runConfig) (*profile.Profile, error) {
	return nil, errors.New("no backend")
}
