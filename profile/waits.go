package profile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// WaitKind says what a thread waited for.
type WaitKind string

const (
	WaitBarrier   WaitKind = "barrier"   // where the threads meet
	WaitJoin      WaitKind = "join"      // a thread's end
	WaitCondition WaitKind = "condition" // that another thread says so: condition variables, semaphores, futexes
	WaitLock      WaitKind = "lock"
	WaitSleep     WaitKind = "sleep"
	WaitIO        WaitKind = "io"
	WaitFault     WaitKind = "fault" // memory that was touched first
	WaitSpin      WaitKind = "spin"
)

// waitKinds are all of them, by their numbers in a file.
var waitKinds = []WaitKind{"", WaitBarrier, WaitJoin, WaitCondition, WaitLock, WaitSleep, WaitIO, WaitFault, WaitSpin}

// Wait is the waits of one kind at one call, added up.
type Wait struct {
	Kind WaitKind
	Site Addr // the call; 0: unknown
	NS   int64
	N    int // how many
}

func (w Wait) compare(x Wait) int {
	return cmp.Or(slices.Index(waitKinds, w.Kind)-slices.Index(waitKinds, x.Kind), cmp.Compare(w.Site, x.Site))
}

// SumWaits adds waits up: one for each kind and call, in a fixed order.
func SumWaits(ws []Wait) []Wait {
	if len(ws) == 0 {
		return nil
	}
	ws = slices.Clone(ws)
	slices.SortStableFunc(ws, Wait.compare)
	out := ws[:1]
	for _, w := range ws[1:] {
		if last := &out[len(out)-1]; last.compare(w) == 0 {
			last.NS, last.N = last.NS+w.NS, last.N+w.N
		} else {
			out = append(out, w)
		}
	}
	return out
}

// WaitedNS is how long a part waited on its way to the meeting.
func (q *Part) WaitedNS() (ns int64) {
	for _, w := range q.Waits {
		ns += w.NS
	}
	return ns
}

func checkWaits(ws []Wait) error {
	for i, w := range ws {
		switch {
		case w.Kind == "" || !slices.Contains(waitKinds, w.Kind):
			return fmt.Errorf("waits of kind %q", w.Kind)
		case w.NS < 0 || w.N < 1:
			return fmt.Errorf("%d waits by %s for %d ns", w.N, w.Kind, w.NS)
		case i > 0 && ws[i-1].compare(w) >= 0:
			return fmt.Errorf("waits by %s at %#x come after others", w.Kind, w.Site)
		}
	}
	return nil
}

// packWaits writes each as four varints: kind, call, nanoseconds, number.
func packWaits(ws []Wait) (b []byte) {
	for _, w := range ws {
		for _, v := range []uint64{uint64(slices.Index(waitKinds, w.Kind)), uint64(w.Site), uint64(w.NS), uint64(w.N)} {
			b = binary.AppendUvarint(b, v)
		}
	}
	return b
}

var errWaits = errors.New("a list of waits is garbled")

func (d *decoder) unpackWaits(b []byte) (ws []Wait, err error) {
	if err := d.charge(int64(len(b)/4) * 40); err != nil {
		return nil, err
	}
	for len(b) > 0 {
		var v [4]uint64
		for i := range v {
			n := 0
			if v[i], n = binary.Uvarint(b); n <= 0 {
				return nil, errWaits
			}
			b = b[n:]
		}
		if v[0] >= uint64(len(waitKinds)) || v[2] > math.MaxInt64 || v[3] > math.MaxInt32 {
			return nil, errWaits
		}
		ws = append(ws, Wait{waitKinds[v[0]], Addr(v[1]), int64(v[2]), int(v[3])})
	}
	return ws, nil
}
