package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// behind says that a flag of ours stands behind the program, whose it is there: who forgot it
// until then would look for the file, or the format, in vain. Who writes -- before the program
// has said what is whose.
func behind(stderr io.Writer, fs *flag.FlagSet, args []string) {
	first := len(args) - fs.NArg()
	if first > 0 && args[first-1] == "--" {
		return
	}
	for _, a := range fs.Args()[min(1, fs.NArg()):] {
		if a == "--" {
			return
		}
		name, _, _ := strings.Cut(a, "=")
		if long, ok := strings.CutPrefix(name, "--"); ok && fs.Lookup(long) != nil {
			fmt.Fprintf(stderr, "skewlens: note: %s stands behind %s, so it is the program's own; for skewlens, write it before the program (and -- before the program says that it is meant so)\n", name, fs.Arg(0))
			return
		}
	}
}
