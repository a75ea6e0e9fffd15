package perf

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Set is what can be counted of each thread here.
type Set struct {
	Counters []Counter // those of the software first
	software int
	opened   int // threads
	precise  int // how precisely the instructions of misses are told, from 1 to 3; 0: not at all

	Missing []Missing // what cannot be counted
}

// Missing is something that cannot be counted, in words: what, why, and the fix if there is one.
type Missing struct{ What, Why, Fix string }

func (m Missing) String() string {
	s := m.What + ": " + m.Why
	if m.Fix != "" {
		s += ": " + m.Fix
	}
	return s
}

// Hardware reports whether there are counters of the processor's.
func (s *Set) Hardware() bool { return len(s.Counters) > s.software }

// Places reports whether it is told at which instructions caches miss.
func (s *Set) Places() bool { return s.precise > 0 }

// Find tries what can be counted here. An error says why nothing can, and the fix.
func Find() (*Set, error) {
	var word uint64
	if err := try(mark(uint64(reflect.ValueOf(&word).Pointer()))); err != nil {
		return nil, refused(err, os.ReadFile)
	}
	s := &Set{}
	var kernel []string
	for _, c := range software {
		err := try(c.attribute())
		switch {
		case err == nil:
			s.Counters = append(s.Counters, c)
		case c.kernel && forbidden(err):
			kernel = append(kernel, c.Name)
		default:
			s.Missing = append(s.Missing, Missing{c.Name, err.Error(), ""})
		}
	}
	if len(kernel) > 0 {
		s.Missing = append(s.Missing, Missing{strings.Join(kernel, ", "), "the kernel does not say what it does itself", "sysctl kernel.perf_event_paranoid=1 as root"})
	}
	s.software = len(s.Counters)
	s.findHardware(Known, knownMisses, knownPlaces)
	runtime.KeepAlive(&word)
	return s, nil
}

// findHardware adds counters of the processor's that are to be believed: that count known
// work right, misses of known work, and these where they are known to be.
func (s *Set) findHardware(work, missing func() error, places func(precise int) error) {
	if err := work(); err != nil {
		s.Missing = append(s.Missing, Missing{"cycles, instructions, misses of caches", "no hardware counters (" + err.Error() + ")", ""})
		return
	}
	s.Counters = append(s.Counters, hardware...)
	if err := missing(); err != nil {
		s.Missing = append(s.Missing, Missing{"misses of caches", err.Error(), ""})
		return
	}
	if try(references.attribute()) == nil {
		s.Counters = append(s.Counters, references)
	}
	s.Counters = append(s.Counters, misses)
	if err := s.findPrecise(places); err != nil {
		s.Missing = append(s.Missing, Missing{"at which instructions caches miss", err.Error(), ""})
	}
}

// findPrecise looks how precisely it is told where caches miss. Without help of the
// processor's (PEBS, IBS) samples say an instruction some way behind, maybe of another
// line: then none is said at all.
func (s *Set) findPrecise(places func(precise int) error) error {
	for precise := 3; precise > 0; precise-- {
		if try(placed(precise)) == nil {
			if err := places(precise); err != nil {
				return err
			}
			s.precise = precise
			return nil
		}
	}
	return errors.New("the processor does not tell it precisely")
}

// try opens an event of this thread, and lets go of it.
func try(a unix.PerfEventAttr) error {
	fd, err := open(&a, 0, -1)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func forbidden(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }

// refused says why there is nothing, and the fix.
func refused(err error, read func(string) ([]byte, error)) error {
	const file = "/proc/sys/kernel/perf_event_paranoid"
	level, failed := read(file)
	switch {
	case failed != nil:
		return fmt.Errorf("perf events: this kernel has none (%w): use --backend native", err)
	case forbidden(err) && strings.TrimSpace(string(level)) > "2":
		return fmt.Errorf("perf events are forbidden (perf_event_paranoid is %s): sysctl kernel.perf_event_paranoid=2 as root", strings.TrimSpace(string(level)))
	case forbidden(err):
		return fmt.Errorf("perf events are forbidden (%w): in a container, allow perf_event_open, as by --cap-add PERFMON or another seccomp profile", err)
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("perf events: others have all of the processor's breakpoints (%w): end debuggers of this machine", err)
	}
	return fmt.Errorf("perf events: this machine has no breakpoints for them (%w): use --backend native", err)
}
