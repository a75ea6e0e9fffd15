package perf

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// walkAt is where walk begins.
func walkAt() uint64

// Where in walk the load is, from its first instruction, and where it ends: a test looks.
const (
	loadAt  = 10
	walkEnd = 18
)

// knownPlaces is nil if samples of misses, as precise as that, are at the one instruction
// that misses.
func knownPlaces(precise int) error {
	lines := ring64MB()
	pcs, err := sampled(placed(precise), func() { walk(&lines[0], knownLines) })
	runtime.KeepAlive(lines)
	if err != nil {
		return err
	}
	return believablePlaces(pcs, walkAt())
}

// believablePlaces is nil if nine of ten samples of walk are at its load.
func believablePlaces(pcs []uint64, begin uint64) error {
	there, within := 0, 0
	for _, pc := range pcs {
		if pc-begin == loadAt {
			there++
		}
		if pc-begin < walkEnd {
			within++
		}
	}
	if few := knownLines / 8 / MissPeriod; within < few {
		return fmt.Errorf("of a walk that misses %d times there were %d samples", knownLines, within)
	}
	if 10*there < 9*within {
		return fmt.Errorf("%d of %d samples are not at the instruction that misses", within-there, within)
	}
	return nil
}

// sampled are the instructions of an event's samples while do runs.
func sampled(a unix.PerfEventAttr, do func()) (pcs []uint64, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := &Thread{missFD: -1}
	if t.missFD, err = open(&a, 0, -1); err != nil {
		return nil, err
	}
	defer t.Close()
	if t.missID, err = identify(t.missFD); err != nil {
		return nil, err
	}
	if t.ring, err = mapRing(t.missFD, 1); err != nil {
		return nil, err
	}
	do()
	t.collect()
	for _, s := range t.in {
		if s.kind == missAt {
			pcs = append(pcs, s.pc)
		}
	}
	return pcs, nil
}
