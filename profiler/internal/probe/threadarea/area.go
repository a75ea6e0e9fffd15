package threadarea

import (
	"encoding/binary"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Common is the profiler's view of an area that is no thread's: it has what all
// threads share, and swallows what forked children count, which run on with the
// moved code and must not disturb their parent's counts.
type Common struct {
	Area
	room   []record.Delta // of which records have theirs
	gone   []*Area        // of threads that have ended: their views are used again
	always []liveWord     // those that are not 0 where nobody has entered anything

	// Gates is how many there are, of those that there can be.
	Gates int
	// Rate is how many ticks of the time stamp counter a nanosecond has, times 2³²; 0: the
	// CPU clocks of threads that run goroutines are not read.
	Rate uint64
}

// deltas is room for some: very many records have a few, and to ask for each takes
// longer than to read it. There is more behind them, for so many more.
func (c *Common) deltas(n, more int) []record.Delta {
	const many = 1 << 10
	all := n + more
	if all > len(c.room) {
		c.room = make([]record.Delta, max(all, many))
	}
	d := c.room[:n:all]
	c.room = c.room[all:]
	return d
}

// NewCommon prepares it: mem is the profiler's view of it, base where it lies
// in the target.
func NewCommon(l Layout, mem []byte, base uint64) *Common {
	c := &Common{Area: Area{l: l, mem: mem, base: base}, Gates: maxGates}
	c.init(c, Never, 1<<62, 0)
	c.OpenGates()
	c.Listen(1 << 62)
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
	for i := range l.liveWords() {
		if w := c.get(l.live + 8*i); w != 0 {
			c.always = append(c.always, liveWord{l.live + 8*i, w})
		}
	}
	return c
}

// liveWord is one of those that say which counters are looked at.
type liveWord struct{ at, bits uint64 }

// Area is the profiler's view of one thread's area.
type Area struct {
	common *Common
	l      Layout
	mem    []byte
	base   uint64 // in the target
	read   uint64 // ring position up to which records were taken
	begin  uint64 // time stamp: when it was prepared

	fetched uint64 // see fetch

	live *Area // that says which counters may be other than 0: all threads' common one, but for goroutines

	stack record.Stack // of the record that is being taken
}

// New prepares the memory of a new thread: mem is the profiler's view of
// it, base where it lies in the target. cpuGap is in ticks of the time stamp
// counter, now its present value; long is how many ticks make a system call
// worth a record.
func New(c *Common, mem []byte, base, cpuGap, long, now uint64) *Area {
	a := c.begin(mem, base)
	a.init(c, cpuGap, long, now)
	a.OpenGates()
	return a
}

// begin is a view of an area, which is prepared next.
func (c *Common) begin(mem []byte, base uint64) *Area {
	var a *Area
	if n := len(c.gone); n > 0 {
		a, c.gone = c.gone[n-1], c.gone[:n-1]
	} else {
		a = new(Area)
	}
	*a = Area{l: c.l, mem: mem, base: base}
	return a
}

// Leave is told that nobody has an area's view any more.
func (c *Common) Leave(a *Area) { c.gone = append(c.gone, a) }

func (a *Area) init(c *Common, cpuGap, long, now uint64) {
	a.common = c
	base, l := a.base, a.l
	for _, x := range [...]struct{ off, v uint64 }{
		{offRing, base + l.ring}, {OffLimit, base + l.limit()}, {offLastTSC, now}, {offCPUGap, cpuGap},
		{offCounters, base + l.counters}, {offShadow, base + l.shadow}, {offNFixed, uint64(l.Fixed())}, {offOverCap, overCap},
		{offOver, base + l.counters + 8*uint64(l.Fixed())}, {offTargets, base + l.targets}, {offSiteCtr, base + l.counters + 8*uint64(l.Chords)},
		{offHash, base + l.hash}, {offKeys, base + l.keys},
		{offWaits, c.base + l.Waits()}, {offLong, long}, {offEpoch, c.base + offSeen},
		{offLive, c.base + l.live}, {offNLive, l.liveWords()}, {offChanged, noChanged << 32}, {offEntered, base + l.entered}, {offRanges, c.base + l.ranges}, {offRate, c.Rate},
	} {
		a.put(x.off, x.v)
	}
	a.read, a.live, a.begin = l.ring, &c.Area, now
}

// Clear makes the memory what it was before New, but for records, which are
// behind what New says is the ring's end. Only when the thread is gone.
func (a *Area) Clear() {
	recorded := a.recorded()
	a.eights(func(from, to uint64) {
		clear(a.words(a.l.counters+8*from, to-from))
		if recorded {
			clear(a.words(a.l.shadow+8*from, to-from))
		}
		first, fixed := max(from, uint64(a.l.Chords)), min(to, uint64(a.l.Chords+2*a.l.Sites))
		for i := first; i < fixed; i++ {
			clear(a.words(a.l.targets+siteSize*((i-uint64(a.l.Chords))/2), siteSize/8))
		}
	})
	a.clearPairs()
	if a.live == a || a.l.caches != 0 {
		clear(a.mem[a.l.live:a.l.ranges])
	}
	clear(a.mem[a.l.entered : a.l.entered+uint64(len(a.l.funcs))])
	clear(a.mem[a.l.units : a.l.units+unitSize*uint64(a.l.loops)])
	clear(a.mem[:headerSize])
}

// fewPairs are looked up one by one when they go; with more the table is cleared,
// which is large.
const fewPairs = 256

// clearPairs clears the pairs of targets and sites.
func (a *Area) clearPairs() {
	n := min(a.get(offNOver), overCap)
	if n > fewPairs {
		clear(a.mem[a.l.hash:a.l.keys])
	}
	for i := range n {
		key := a.words(a.l.keys+16*i, 2)
		const size = hashSize + hashWindow
		at := (HashWindow(int32(key[1]/2)) + uint32(int32(key[0])*HashFactor)>>HashShift&HashMask) / hashStep
		for k := uint32(0); k < size && n <= fewPairs; k++ {
			if pair := a.words(a.l.hash+hashStep*uint64((at+k)%size), 2); pair[1]>>32 == i+1 {
				clear(pair)
				break
			}
		}
		clear(key)
	}
}

func (a *Area) put(off, v uint64)        { binary.LittleEndian.PutUint64(a.mem[off:], v) }
func (a *Area) get(off uint64) uint64    { return binary.LittleEndian.Uint64(a.mem[off:]) }
func (a *Area) pos(linear uint64) uint64 { return linear - a.base }
