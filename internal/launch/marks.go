package launch

import (
	"fmt"
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

// Mark is a rank's own.
type Mark struct {
	name string
	told time.Time
}

// NewMark makes the mark of a rank's file.
func NewMark(file string) *Mark {
	m := &Mark{name: filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+runs)}
	m.Tell(0)
	return m
}

// Tell says how far the rank has come: in instances of sections.
func (m *Mark) Tell(instances int) {
	if time.Since(m.told) > time.Second/2 {
		m.told = time.Now()
		_ = os.WriteFile(m.name, fmt.Appendf(nil, "%d %d", os.Getpid(), instances), 0o666)
	}
}

// Remove removes it.
func (m *Mark) Remove() { os.Remove(m.name) }

// mark is one that was found.
type mark struct {
	rank, pid, instances int
	host                 string
}

// State is how far ranks have come.
type State struct {
	Ranks     int // at work
	Instances int // of sections, that the last of them has come to
}

func (s State) String() string {
	if s.Ranks == 1 {
		return fmt.Sprintf("1 rank at work, %d section instances", s.Instances)
	}
	return fmt.Sprintf("%d ranks at work, the last at %d section instances", s.Ranks, s.Instances)
}

// Folder begins the names of the folders that ranks save to for the time of a run.
const Folder = ".skewlens-ranks-"

// InFolder says how far ranks have come that save to such a folder in a directory; ""
// where there are none.
func InFolder(dir string) string {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), Folder) {
			if s := Running(filepath.Join(dir, e.Name())); s.Ranks > 0 {
				return s.String()
			}
		}
	}
	return ""
}

// Running is how far those have come whose marks are in a directory.
func Running(dir string) (s State) {
	_ = each(dir, func(name string) {
		if m, ok := readMark(name); ok {
			if s.Ranks == 0 || m.instances < s.Instances {
				s.Instances = m.instances
			}
			s.Ranks++
		}
	})
	return s
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
	m = mark{rank: rank, host: host}
	b, _ := os.ReadFile(name)
	_, _ = fmt.Sscan(string(b), &m.pid, &m.instances) // it may be written just now
	return m, true
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
