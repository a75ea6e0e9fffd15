package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/skewlens/skewlens/internal/runner"
	"github.com/skewlens/skewlens/lsp"
	"github.com/skewlens/skewlens/profiler"
)

// serveCommand is the language server, on standard input and output. It runs
// until its client is gone.
func serveCommand(ctx context.Context, stdout, _ io.Writer, args []string) error {
	if len(args) > 0 && (len(args) > 1 || args[0] != "--stdio") { // which many clients say to every server, and is what this one does
		return usageError("serve takes no arguments: editors start it, and talk to it on standard input and output")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("serve: find this program: %w", err)
	}
	cache := cacheDir()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	err = lsp.Serve(ctx, os.Stdin, stdout, lsp.Options{
		Runner:    &runner.Runner{Self: self, Dir: cache},
		CallSites: profiler.CallSites,
		Cache:     cache,
		Version:   version(),
	})
	if err != nil {
		return &exitError{1, err} // as the protocol has it for every end that was not asked for
	}
	return nil
}
