package profile

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Sync is one wait that another thread has ended.
type Sync struct {
	Kind           WaitKind
	Site           Addr // the call that waited; 0: unknown
	BeginNS, EndNS int64
	Thread         ThreadID // that ended it
	WakeNS         int64    // when that one called what ended it
}

func checkSyncs(ss []Sync, known map[ThreadID]bool) error {
	for i, s := range ss {
		switch {
		case s.Kind == "" || !slices.Contains(waitKinds, s.Kind):
			return fmt.Errorf("a wait of kind %q that was ended", s.Kind)
		case s.BeginNS < 0 || s.EndNS < s.BeginNS || s.WakeNS < 0 || s.WakeNS > s.EndNS:
			return fmt.Errorf("a wait from %d to %d ns was ended at %d ns", s.BeginNS, s.EndNS, s.WakeNS)
		case !known[s.Thread]:
			return fmt.Errorf("thread %d, which is not known, has ended a wait", s.Thread)
		case i > 0 && ss[i-1].BeginNS > s.BeginNS:
			return fmt.Errorf("a wait from %d ns on comes after a later one", s.BeginNS)
		}
	}
	return nil
}

// packSyncs writes each as six varints: kind, call, thread, when it began after the
// one before, how long it was, and how long before its end it was ended.
func packSyncs(ss []Sync) (b []byte) {
	last := int64(0)
	for _, s := range ss {
		for _, v := range []uint64{uint64(slices.Index(waitKinds, s.Kind)), uint64(s.Site), uint64(s.Thread), uint64(s.BeginNS - last), uint64(s.EndNS - s.BeginNS), uint64(s.EndNS - s.WakeNS)} {
			b = binary.AppendUvarint(b, v)
		}
		last = s.BeginNS
	}
	return b
}

func (d *decoder) unpackSyncs(b []byte) (ss []Sync, err error) {
	if err := d.charge(int64(len(b)/6) * 64); err != nil {
		return nil, err
	}
	last := int64(0)
	for len(b) > 0 {
		var v [6]uint64
		if b, err = varints(b, v[:]); err != nil || v[0] >= uint64(len(waitKinds)) || v[2] > math.MaxInt32 || max(v[3], v[4], v[5]) > math.MaxInt64/4 {
			return nil, errWaits
		}
		last += int64(v[3])
		s := Sync{waitKinds[v[0]], Addr(v[1]), last, last + int64(v[4]), ThreadID(v[2]), last + int64(v[4]) - int64(v[5])}
		if last < 0 || s.EndNS < 0 {
			return nil, errWaits
		}
		ss = append(ss, s)
	}
	return ss, nil
}
