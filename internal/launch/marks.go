package launch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// As long as a rank runs there is a mark beside the place of its file. Who reports on
// all ranks waits a moment for those that are about to end, since launchers do not wait
// for what they have killed; and knows which began and have left nothing.

const runs = ".running"

// Mark makes the mark of a rank's file, and returns what removes it.
func Mark(file string) (ended func()) {
	name := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+runs)
	_ = os.WriteFile(name, []byte(strconv.Itoa(os.Getpid())), 0o666)
	return func() { os.Remove(name) }
}

// mark is one that was found.
type mark struct {
	rank int
	host string
	pid  int
}

// readMark reads one; ok is false for other files.
func readMark(name string) (m mark, ok bool) {
	rest, is := strings.CutPrefix(filepath.Base(name), ".rank-")
	rest, ends := strings.CutSuffix(rest, suffix+runs)
	number, host, cut := strings.Cut(rest, ".")
	rank, err := strconv.Atoi(number)
	if !is || !ends || !cut || err != nil {
		return m, false
	}
	b, _ := os.ReadFile(name)
	pid, _ := strconv.Atoi(string(b))
	return mark{rank, host, pid}, true
}

// Unfinished are the ranks that began and have left nothing, when those of this machine
// that still run have ended, or a time is over.
func Unfinished(dir string, patience time.Duration) (ranks []int) {
	host, _ := os.Hostname()
	for deadline := time.Now().Add(patience); ; time.Sleep(patience / 500) {
		ranks = nil
		here := false
		each(dir, func(name string) {
			if m, ok := readMark(name); ok {
				ranks = append(ranks, m.rank)
				here = here || m.host == clean(host) && m.pid > 0 && syscall.Kill(m.pid, 0) == nil
			}
		})
		if !here || time.Now().After(deadline) {
			return ranks
		}
	}
}

// each visits the files of a directory, and those in its directories.
func each(dir string, visit func(name string)) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			visit(name)
			continue
		}
		below, _ := os.ReadDir(name)
		for _, x := range below {
			visit(filepath.Join(name, x.Name()))
		}
	}
	return nil
}
