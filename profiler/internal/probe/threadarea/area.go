package threadarea

import (
	"encoding/binary"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Common is the profiler's view of an area that is no thread's: it has what all
// threads share, and swallows what forked children count, which run on with the
// moved code and must not disturb their parent's counts.
type Common struct{ Area }

// NewCommon prepares it: mem is the profiler's view of it, base where it lies
// in the target.
func NewCommon(l Layout, mem []byte, base uint64) *Common {
	c := &Common{Area{l: l, mem: mem, base: base}}
	c.init(c, 1<<62, 1<<62, 0)
	c.put(offMuted, 1)
	at, from := l.ranges, [2]uint32{0, uint32(l.Chords)}
	for i := range len(l.funcs) + 1 {
		binary.LittleEndian.PutUint32(mem[at:], from[0])
		binary.LittleEndian.PutUint32(mem[at+4:], from[1])
		at += 8
		if i == len(l.funcs) {
			break
		}
		f := &l.funcs[i]
		to := [2]uint32{uint32(f.Chords), uint32(l.Chords) + 2*uint32(f.Sites)}
		for k := range to {
			for n := from[k]; n < to[k] && f.Always; n++ {
				mem[l.live+uint64(n/64)] |= 1 << (n / 8 % 8)
			}
		}
		from = to
	}
	return c
}

// Area is the profiler's view of one thread's area.
type Area struct {
	common *Common
	l      Layout
	mem    []byte
	base   uint64 // in the target
	read   uint64 // ring position up to which records were taken

	live *Area // that says which counters may be other than 0: all threads' common one, but for goroutines

	stack record.Stack // of the record that is being taken
}

// New prepares the memory of a new thread: mem is the profiler's view of
// it, base where it lies in the target. cpuGap is in ticks of the time stamp
// counter, now its present value; long is how many ticks make a system call
// worth a record.
func New(c *Common, mem []byte, base, cpuGap, long, now uint64) *Area {
	a := &Area{l: c.l, mem: mem, base: base}
	a.init(c, cpuGap, long, now)
	return a
}

func (a *Area) init(c *Common, cpuGap, long, now uint64) {
	a.common = c
	base, l := a.base, a.l
	for _, x := range [...]struct{ off, v uint64 }{
		{offRing, base + l.ring}, {offLimit, base + l.live - l.recordMax()}, {offLastTSC, now}, {offCPUGap, cpuGap},
		{offCounters, base + l.counters}, {offShadow, base + l.shadow}, {offNFixed, uint64(l.Fixed())}, {offOverCap, overCap},
		{offOver, base + l.counters + 8*uint64(l.Fixed())}, {offTargets, base + l.targets}, {offSiteCtr, base + l.counters + 8*uint64(l.Chords)},
		{offHash, base + l.hash}, {offKeys, base + l.keys},
		{offWaits, c.base + l.Waits()}, {offLong, long}, {offEpoch, c.base + offSeen},
		{offLive, c.base + l.live}, {offNLive, l.liveWords()}, {offEntered, base + l.entered}, {offRanges, c.base + l.ranges},
	} {
		a.put(x.off, x.v)
	}
	a.read, a.live = l.ring, &c.Area
	a.OpenGates()
}

// Clear makes the memory what it was before New, but for records, which are
// behind what New says is the ring's end. Only when the thread is gone.
func (a *Area) Clear() {
	a.counters(func(i uint64) {
		a.put(a.l.counters+8*i, 0)
		a.put(a.l.shadow+8*i, 0)
		if i >= uint64(a.l.Chords) && i < uint64(a.l.Fixed()) {
			at := a.l.targets + targetSize*(i-uint64(a.l.Chords))
			clear(a.mem[at : at+targetSize])
		}
	})
	if n := a.get(offNOver); n > 0 {
		clear(a.mem[a.l.hash:a.l.keys])
		clear(a.mem[a.l.keys : a.l.keys+16*min(n, overCap)])
	}
	if a.live == a {
		clear(a.mem[a.l.live:a.l.ranges])
	}
	clear(a.mem[a.l.entered : a.l.entered+uint64(len(a.l.funcs))])
	clear(a.mem[a.l.units : a.l.units+unitSize*uint64(a.l.loops)])
	clear(a.mem[:headerSize])
}

func (a *Area) put(off, v uint64)        { binary.LittleEndian.PutUint64(a.mem[off:], v) }
func (a *Area) get(off uint64) uint64    { return binary.LittleEndian.Uint64(a.mem[off:]) }
func (a *Area) pos(linear uint64) uint64 { return linear - a.base }
