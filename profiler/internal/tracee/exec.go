package tracee

import (
	"fmt"
	"os"
	"strings"
)

// Replaced says what program the process is now, its file and arguments, and
// forgets all about the one before an Execed event.
func (p *Process) Replaced() (path string, args []string, err error) {
	p.threads = map[int]bool{p.Pid: true}
	p.back, p.owed, p.planted = nil, map[int]bool{}, breakpoint{}
	proc := fmt.Sprintf("/proc/%d/", p.Pid)
	path, err = os.Readlink(proc + "exe")
	if err != nil {
		return "", nil, err
	}
	if !sameFile(path, proc+"exe") { // deleted, or in another file system name space
		path = proc + "exe"
	}
	b, err := os.ReadFile(proc + "cmdline")
	if err != nil {
		return "", nil, err
	}
	if words := strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"); len(words) > 1 {
		args = words[1:]
	}
	mem, err := os.OpenFile(proc+"mem", os.O_RDWR, 0)
	if err != nil {
		return "", nil, err
	}
	p.mem.Close()
	p.mem = mem
	return path, args, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
