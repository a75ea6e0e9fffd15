package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
)

var (
	setting  = pattern.New(`^[A-Za-z_]\w*=`)
	changes  = pattern.New(`^\s*cd\s+([^\s'"$]+)\s*$`)
	launcher = pattern.New(`^(mpirun|mpiexec|srun|orterun|prun)$`)
	number   = pattern.New(`^\d+$`)
)

// TakeCommand takes a line as a person would type it in the folder's terminal: what stands
// before the last && builds, what stands behind it is run.
func (t *Target) TakeCommand(line string) error {
	dir, run, build := t.Root, line, ""
	if i := strings.LastIndex(line, "&&"); i >= 0 {
		build, run = strings.TrimSpace(line[:i]), line[i+2:]
	}
	only := true // the folder is changed before, and nothing is built
	for _, step := range strings.Split(build, "&&") {
		if m := changes().FindStringSubmatch(step); m != nil {
			dir = below(dir, m[1])
		} else if strings.TrimSpace(step) != "" {
			only = false
		}
	}
	if err := t.TakeArguments(run); err != nil {
		return err
	}
	words := t.Args
	for ; len(words) > 0 && setting().MatchString(words[0]); words = words[1:] {
		name, value, _ := strings.Cut(words[0], "=")
		if t.Env == nil {
			t.Env = map[string]string{}
		}
		t.Env[name] = value
	}
	if n := len(words); n > 2 && words[n-2] == "<" {
		t.Stdin, words = below(dir, words[n-1]), words[:n-2]
	}
	if len(words) == 0 {
		return errors.New("that names no program: type a command, as ./program 8")
	}
	if !only {
		t.Build = build
	}
	if started, rest := launched(words); started != nil {
		t.Launcher, words = started, rest
	}
	t.Program, t.Args, t.Cwd = below(dir, words[0]), words[1:], dir
	if found, err := exec.LookPath(words[0]); err == nil && !strings.Contains(words[0], "/") {
		t.Program = found
	} else if _, err := exec.LookPath(t.Program); err != nil && only {
		return fmt.Errorf("there is no program %s: type the command that builds it before, as make && ./program", t.Program)
	}
	t.Name, t.Follow = filepath.Base(t.Program), script(t.Program)
	return nil
}

// script reports whether a program is one for an interpreter: a launcher, as far as it
// ends in another program.
func script(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [2]byte
	n, _ := f.Read(head[:])
	return string(head[:n]) == "#!"
}

// launched divides what starts the ranks of a program, with its options, from that program.
func launched(words []string) (launch, rest []string) {
	if !launcher().MatchString(filepath.Base(words[0])) {
		return nil, words
	}
	n := 1
	for n < len(words) && (strings.HasPrefix(words[n], "-") || number().MatchString(words[n])) {
		n++
	}
	if n == len(words) {
		return nil, words
	}
	return words[:n], words[n:]
}
