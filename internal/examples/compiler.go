package examples

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Compiler is the command that compiles C, and flags that it always gets.
type Compiler []string

// FindCompiler finds a C compiler: $CC, which may carry flags, else the usual
// names.
func FindCompiler() (Compiler, error) {
	if cc := strings.Fields(os.Getenv("CC")); len(cc) > 0 {
		if _, err := exec.LookPath(cc[0]); err != nil {
			return nil, fmt.Errorf("run the C compiler %s: not found; CC names it: unset CC, or set it to another", cc[0])
		}
		return cc, nil
	}
	for _, cc := range []string{"cc", "gcc", "clang"} {
		if _, err := exec.LookPath(cc); err == nil {
			return Compiler{cc}, nil
		}
	}
	return nil, errors.New("demo: no C compiler found; install one (Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc glibc-devel), or set CC")
}

func (cc Compiler) String() string { return strings.Join(cc, " ") }

// Build compiles source.c of a directory to the program out there, as a user
// would: optimised, with debug information.
func (cc Compiler) Build(ctx context.Context, dir, source, out string, flags ...string) error {
	args := append(append(append([]string{}, cc[1:]...), "-O2", "-g", "-pthread"), flags...)
	// A relative name would make the debug information depend on where it is read.
	cmd := exec.CommandContext(ctx, cc[0], append(args, filepath.Join(dir, source+".c"), "-o", filepath.Join(dir, out))...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s.c with %s: %w: %s", source, cc[0], err, strings.TrimSpace(string(text)))
	}
	return nil
}
