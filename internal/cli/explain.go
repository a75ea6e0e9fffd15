package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/skewlens/skewlens/docs"
)

// explainCommand prints what a kind of cause means, or which kinds there are.
func explainCommand(_ context.Context, stdout, _ io.Writer, args []string) error {
	known := strings.Join(docs.Kinds(), ", ")
	switch len(args) {
	case 0:
		_, err := fmt.Fprintln(stdout, known)
		return err
	case 1:
		text, ok := docs.Cause(args[0])
		if !ok {
			return usageError("no kind of cause is called %q; there are %s (event: of caches and memory)", args[0], known)
		}
		_, err := io.WriteString(stdout, text)
		return err
	}
	return usageError("explain takes one kind of cause, got %q", strings.Join(args, " "))
}
