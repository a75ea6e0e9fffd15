package perf

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// reading is what the counters of a group had counted at a moment, for how long they
// were wanted by then, and for how long of that there was hardware for them.
type reading struct {
	enabled, running uint64
	value            []uint64 // in the order in which they were opened; the mark itself is none
}

// decodeReading reads what PERF_FORMAT_GROUP and readFormat's others make: how many, two
// times, and of each its value and its number, of the mark first. ok is false where it is
// too short, or of another group than the one with these numbers.
func decodeReading(b []byte, ids []uint64) (r reading, ok bool) {
	const head, each = 24, 16
	if len(b) < head || binary.NativeEndian.Uint64(b) != uint64(len(ids)) || len(b) < head+each*len(ids) {
		return r, false
	}
	r.enabled, r.running = binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])
	for i, id := range ids {
		x := b[head+each*i:]
		if binary.NativeEndian.Uint64(x[8:]) != id {
			return r, false
		}
		if i > 0 {
			r.value = append(r.value, binary.NativeEndian.Uint64(x))
		}
	}
	return r, true
}

// growth is what counters grew by between two readings, added to sum. What was not
// counted all the time is scaled; what was not counted at all of some time is not known.
func growth(before, now *reading, sum []uint64) (scaled, known bool) {
	wanted, had := now.enabled-before.enabled, now.running-before.running
	if len(before.value) != len(now.value) || wanted > 0 && had == 0 {
		return false, false
	}
	for i, v := range now.value {
		n := v - before.value[i]
		if had < wanted {
			n = uint64(float64(n)*float64(wanted)/float64(had) + 0.5)
		}
		sum[i] += n
	}
	return had < wanted, true
}

// sample is a record of the kernel's.
type sample struct {
	kind kind
	at   uint64 // ns
	pc   uint64 // of a miss
	reading
	lost uint64
}

type kind int

const (
	markOf kind = iota // and the number of the group
	second
	missAt
	lost
)

// decode reads a record of a thread's ring; ok is false for what is of no interest.
func (t *Thread) decode(of uint32, b []byte) (s sample, ok bool) {
	word := func(i int) uint64 {
		if len(b) < 8*i+8 {
			return 0
		}
		return binary.NativeEndian.Uint64(b[8*i:])
	}
	switch of {
	case unix.PERF_RECORD_LOST:
		return sample{kind: lost, lost: word(1)}, true
	case unix.PERF_RECORD_SAMPLE:
	default: // the thread's rate was throttled, …
		return s, false
	}
	if id := word(0); id == t.missID && id != 0 {
		return sample{kind: missAt, pc: word(1), at: word(2)}, true
	}
	for k := range t.groups {
		g := &t.groups[k]
		if g.ids[0] != word(0) {
			continue
		}
		s = sample{kind: markOf + kind(k), at: word(1)}
		s.reading, ok = decodeReading(b[min(16, len(b)):], g.ids)
		if !ok {
			return sample{kind: lost, lost: 1}, true
		}
		return s, true
	}
	return s, false
}
