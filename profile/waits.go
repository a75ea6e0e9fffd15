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
	WaitMessage   WaitKind = "message" // for another rank: that it sends, or receives
)

// waitKinds are all of them, by their numbers in a file.
var waitKinds = []WaitKind{"", WaitBarrier, WaitJoin, WaitCondition, WaitLock, WaitSleep, WaitIO, WaitFault, WaitSpin, WaitMessage}

// Wait is the waits of one kind at one call, added up.
type Wait struct {
	Kind WaitKind
	Site Addr // the call; 0: unknown
	NS   int64
	N    int // how many
}

func (w Wait) compare(x Wait) int {
	return cmp.Or(compareKinds(w.Kind, x.Kind), cmp.Compare(w.Site, x.Site))
}

func compareKinds(a, b WaitKind) int {
	if a == b { // as mostly
		return 0
	}
	return slices.Index(waitKinds, a) - slices.Index(waitKinds, b)
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

// Wake is what of the waits of one kind at one call another thread has ended:
// of waits for a lock, the time in which it held that, before it let go.
type Wake struct {
	Kind   WaitKind
	Site   Addr // of the wait
	By     Addr // the call that let the waiting thread go on; 0: unknown
	Thread ThreadID
	NS     int64
}

func (w Wake) compare(x Wake) int {
	switch {
	case w.Kind != x.Kind:
		return compareKinds(w.Kind, x.Kind)
	case w.Site != x.Site:
		return cmp.Compare(w.Site, x.Site)
	case w.By != x.By:
		return cmp.Compare(w.By, x.By)
	}
	return cmp.Compare(w.Thread, x.Thread)
}

// is tells whether two wakes are of one kind, both calls and thread.
func (w *Wake) is(x *Wake) bool {
	return w.Site == x.Site && w.By == x.By && w.Thread == x.Thread && w.Kind == x.Kind
}

// fewWakes are looked through one by one: with more of them a map takes less.
const fewWakes = 32

// SumWakes adds wakes up: one for each kind, both calls and thread, in a fixed order. Those
// of thousands of waits are mostly the same few.
func SumWakes(ws []Wake) []Wake {
	var out []Wake
	for i := range ws {
		k := 0
		for k < len(out) && !out[k].is(&ws[i]) {
			k++
		}
		if k == fewWakes {
			out = sumWakes(append(out, ws[i:]...))
			break
		}
		if k == len(out) {
			out = append(out, ws[i])
		} else {
			out[k].NS += ws[i].NS
		}
	}
	slices.SortFunc(out, Wake.compare)
	return out
}

// sumWakes are one for each, in any order: of one lock there may be very many.
func sumWakes(ws []Wake) []Wake {
	sums := make(map[Wake]int64, fewWakes)
	for _, w := range ws {
		ns := w.NS
		w.NS = 0
		sums[w] += ns
	}
	out := make([]Wake, 0, len(sums))
	for w, ns := range sums {
		w.NS = ns
		out = append(out, w)
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

func checkWakes(ws []Wake, known map[ThreadID]bool) error {
	for i, w := range ws {
		switch {
		case w.Kind == "" || !slices.Contains(waitKinds, w.Kind):
			return fmt.Errorf("wakes of kind %q", w.Kind)
		case w.NS < 0 || !known[w.Thread]:
			return fmt.Errorf("thread %d has ended waits of %d ns", w.Thread, w.NS)
		case i > 0 && ws[i-1].compare(w) >= 0:
			return fmt.Errorf("wakes by %s at %#x come after others", w.Kind, w.Site)
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

// packWakes writes each as five varints: kind, call, waking call, thread, nanoseconds.
func packWakes(ws []Wake) (b []byte) {
	for _, w := range ws {
		for _, v := range []uint64{uint64(slices.Index(waitKinds, w.Kind)), uint64(w.Site), uint64(w.By), uint64(w.Thread), uint64(w.NS)} {
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
		if b, err = varints(b, v[:]); err != nil || v[0] >= uint64(len(waitKinds)) || v[2] > math.MaxInt64 || v[3] > math.MaxInt32 {
			return nil, errWaits
		}
		ws = append(ws, Wait{waitKinds[v[0]], Addr(v[1]), int64(v[2]), int(v[3])})
	}
	return ws, nil
}

func (d *decoder) unpackWakes(b []byte) (ws []Wake, err error) {
	if err := d.charge(int64(len(b)/5) * 48); err != nil {
		return nil, err
	}
	for len(b) > 0 {
		var v [5]uint64
		if b, err = varints(b, v[:]); err != nil || v[0] >= uint64(len(waitKinds)) || v[3] > math.MaxInt32 || v[4] > math.MaxInt64 {
			return nil, errWaits
		}
		ws = append(ws, Wake{waitKinds[v[0]], Addr(v[1]), Addr(v[2]), ThreadID(v[3]), int64(v[4])})
	}
	return ws, nil
}

// varints reads some from a list.
func varints(b []byte, v []uint64) (rest []byte, err error) {
	for i := range v {
		n := 0
		if v[i], n = binary.Uvarint(b); n <= 0 {
			return nil, errWaits
		}
		b = b[n:]
	}
	return b, nil
}
