package threadarea

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Records takes the records written since the last call. It may run beside
// the thread: a record is published by one store of the ring position, and
// x86 keeps the order of stores. What was copied of the stack is only there
// while yield runs.
func (a *Area) Records(yield func(record.Record)) {
	end := a.pos(atomic.LoadUint64(a.word(offRing)))
	a.fetchRing(end)
	for a.read < end {
		m := a.mem[a.read:]
		u := func(i int) uint64 { return binary.LittleEndian.Uint64(m[i:]) }
		n := int(binary.LittleEndian.Uint32(m[4:]))
		r := record.Record{Kind: binary.LittleEndian.Uint32(m) & kindMask, TSC: u(8), Site: u(16), Arg1: u(24), Arg3: u(32),
			CPUNS: int64(u(40))*1e9 + int64(u(48))}
		r.Whole = binary.LittleEndian.Uint32(m)&ScanBit != 0
		pairs := recordHeader
		if r.Kind == RawKind {
			r.Raw = m[:recordHeader+pairSize*n]
			a.read += uint64(len(r.Raw))
			yield(r)
			continue
		}
		if kind := binary.LittleEndian.Uint32(m); kind&ChainBit != 0 {
			words := 8 * int(u(recordHeader+56))
			r.Stack, r.Library = &a.stack, kind&LibraryBit != 0
			a.stack.SP, a.stack.Words = u(pairs), m[pairs+stackHeader:pairs+stackHeader+words]
			for i := range r.Stack.Saved {
				r.Stack.Saved[i] = u(pairs + 8 + 8*i)
			}
			pairs += stackHeader + words
		}
		more := 0
		if r.Whole && a.live == a {
			more = openFrames
		}
		r.Delta = a.common.deltas(n, more)
		for i := range r.Delta {
			r.Delta[i] = record.Delta{Counter: int32(u(pairs + pairSize*i)), N: u(pairs + pairSize*i + 8)}
		}
		yield(r)
		a.read += uint64(pairs + pairSize*n)
	}
}

// openFrames is for how many frames that it has come into, or left, there is room behind
// what a goroutine counted until a record.
const openFrames = 4

// RecordedAt is where in the target eight bytes lie that each record of the thread writes
// once, whoever makes it, when it takes the time.
func (a *Area) RecordedAt() uint64 { return a.base + offLastTSC }

// MaxGates is how many gates there can be.
const MaxGates = maxGates

// OpenGate says how many records a gate may make from now on; 0: none.
func (a *Area) OpenGate(n int32, records uint32) {
	atomic.StoreUint32(a.half(a.l.gates+uint64(GateOffset(n))), records)
}

// OpenGates opens all gates for the first records by which to find out what they are.
// With the last of these the thread's ring counts as full.
func (a *Area) OpenGates() { a.setGates(gateTrial) }

// TryGate opens a gate for as many more.
func (a *Area) TryGate(n int32) { a.OpenGate(n, gateTrial) }

// CloseGates closes all of them.
func (a *Area) CloseGates() { a.setGates(0) }

func (a *Area) setGates(records uint32) {
	gates := a.words(a.l.gates, maxGates)[:a.common.Gates]
	for i := range gates {
		gates[i] = uint64(records) // and no thread is between its ways
	}
}

// GateIs reports how many records a gate may still make.
func (a *Area) GateIs(n int32) uint32 {
	return atomic.LoadUint32(a.half(a.l.gates + uint64(GateOffset(n))))
}

// Busy reports whether a record is being written.
func (a *Area) Busy() bool { return atomic.LoadUint64(a.word(offBusy)) != 0 }

// Reset empties the ring. Only while the thread is stopped, and after Records.
func (a *Area) Reset() {
	a.put(offRing, a.base+a.l.ring)
	a.put(OffLimit, a.base+a.l.limit())
	a.read = a.l.ring
}

// SetTop says where the thread's stack begins: it has the words below.
func (a *Area) SetTop(sp uint64) { a.put(offTop, sp) }

// SetTimer says where timer.S lies in the target, or a ret that stands for it.
func (a *Area) SetTimer(at uint64) { a.put(OffTimer, at) }

// eights calls do for all counters that may be other than 0, in order: for most of
// them by eights, which are looked at or not together.
func (a *Area) eights(do func(from, to uint64)) {
	n := uint64(a.l.Fixed())
	for at, word := range a.live.words(a.l.live, a.l.liveWords()) {
		for ; word != 0; word &= word - 1 {
			i := uint64(at)*512 + 8*uint64(bits.TrailingZeros64(word))
			do(i, min(n, i+8))
		}
	}
	if over := a.get(offNOver); over > 0 {
		do(n, n+over)
	}
}

// fetch asks for all that will be read at once: another core wrote it last, and one line
// after the other takes as long as all else about a thread that has lived for microseconds.
func (a *Area) fetch() {
	recorded, sum := a.recorded(), uint64(0)
	counters, shadow := a.words(a.l.counters, uint64(a.l.Fixed())), a.words(a.l.shadow, uint64(a.l.Fixed()))
	for at, word := range a.live.words(a.l.live, a.l.liveWords()) {
		for ; word != 0; word &= word - 1 {
			i := at*512 + 8*bits.TrailingZeros64(word)
			sum += counters[i]
			if recorded {
				sum += shadow[i]
			}
		}
	}
	a.fetched = sum
}

// fetchRing is fetch of what was recorded up to a position.
func (a *Area) fetchRing(end uint64) {
	const line, many = 64, 64 << 10
	sum := uint64(0)
	for at := a.read; at < min(end, a.read+many); at += line {
		sum += a.get(at)
	}
	a.fetched = sum
}

// Target returns the site (its number) and the run-time target that a counter
// beyond the chords stands for.
func (a *Area) Target(counter int32) (site int, target uint64) {
	i := int(counter) - a.l.Chords
	if i < 2*a.l.Sites {
		return i / 2, a.get(a.l.targets + uint64(Slot(int32(i/2), int32(i%2))))
	}
	k := a.l.keys + 16*uint64(int(counter)-a.l.Fixed())
	return int(a.get(k+8) / 2), a.get(k)
}

// Ends returns what All does, and what the counters grew by since the last record, of a
// thread that is gone, after Records. Where there was none the two are the same. Both are
// in the room that it is given, which is made larger if need be.
func (a *Area) Ends(room *[]record.Delta) (all, rest []record.Delta, none bool) {
	a.fetch()
	all = a.appendAll((*room)[:0])
	if *room = all; !a.recorded() {
		return all, nil, true
	}
	rest = all[len(all):]
	a.eights(func(from, to uint64) {
		was := a.words(a.l.shadow+8*from, to-from)
		for k, c := range a.words(a.l.counters+8*from, to-from) {
			if c != was[k] {
				rest = append(rest, record.Delta{Counter: int32(from) + int32(k), N: c - was[k]})
			}
		}
	})
	if cap(rest) > cap(*room)-len(all) {
		*room = make([]record.Delta, 0, len(all)+cap(rest))
	}
	return all[:len(all):len(all)], rest, false
}

// recorded reports whether the thread has made a record.
func (a *Area) recorded() bool { return a.get(offLastTSC) != a.begin }

// Lost is how many indirect calls found no place to be counted.
func (a *Area) Lost() uint64 { return a.get(offLost) }

// All returns every counter's value since the thread's birth. Only while the
// thread is stopped or gone.
func (a *Area) All() []record.Delta { return a.appendAll(nil) }

func (a *Area) appendAll(d []record.Delta) []record.Delta {
	a.eights(func(from, to uint64) {
		for k, c := range a.words(a.l.counters+8*from, to-from) {
			if c != 0 {
				d = append(d, record.Delta{Counter: int32(from) + int32(k), N: c})
			}
		}
	})
	return d
}
