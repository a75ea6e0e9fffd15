package tracee

import (
	"fmt"
	"os"
	"strings"
)

// Replaced says what program the process is now, its file, arguments and
// environment, and forgets all about the one before an Execed event.
func (p *Process) Replaced() (path string, args, env []string, err error) {
	p.threads = map[int]bool{p.Pid: true}
	p.back, p.owed, p.planted = nil, map[int]bool{}, breakpoint{}
	proc := fmt.Sprintf("/proc/%d/", p.Pid)
	path, err = os.Readlink(proc + "exe")
	if err != nil {
		return "", nil, nil, err
	}
	if !sameFile(path, proc+"exe") { // deleted, or in another file system name space
		path = proc + "exe"
	}
	words, err := readStrings(proc + "cmdline")
	if err != nil {
		return "", nil, nil, err
	}
	if len(words) > 1 {
		args = words[1:]
	}
	if env, err = readStrings(proc + "environ"); err != nil {
		return "", nil, nil, err
	}
	mem, err := os.OpenFile(proc+"mem", os.O_RDWR, 0)
	if err != nil {
		return "", nil, nil, err
	}
	p.mem.Close()
	p.mem = mem
	return path, args, env, nil
}

// readStrings reads a file of strings that end with a zero byte.
func readStrings(name string) ([]string, error) {
	b, err := os.ReadFile(name)
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"), err
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
