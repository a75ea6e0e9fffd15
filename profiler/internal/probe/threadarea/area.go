package threadarea

import (
	"encoding/binary"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Area is the profiler's view of one thread's area.
type Area struct {
	l    Layout
	mem  []byte
	base uint64 // in the target
	read uint64 // ring position up to which records were taken

	stack record.Stack // of the record that is being taken
}

// New prepares the memory of a new thread: mem is the profiler's view of
// it, base where it lies in the target, waits where the process's table of
// waits does. cpuGap is in ticks of the time stamp counter, now its present
// value; long is how many ticks make a system call worth a record.
func New(l Layout, mem []byte, base, waits, cpuGap, long, now uint64) *Area {
	a := &Area{l: l, mem: mem, base: base}
	for off, v := range map[uint64]uint64{
		offRing: base + l.ring, offLimit: base + l.size - l.recordMax(), offLastTSC: now, offCPUGap: cpuGap,
		offCounters: base + l.counters, offShadow: base + l.shadow, offNFixed: uint64(l.Fixed()), offOverCap: overCap,
		offOver: base + l.counters + 8*uint64(l.Fixed()), offTargets: base + l.targets, offSiteCtr: base + l.counters + 8*uint64(l.Chords),
		offHash: base + l.hash, offHashMask: hashSize - 1, offKeys: base + l.keys,
		offWaits: waits, offLong: long,
	} {
		a.put(off, v)
	}
	a.read = l.ring
	for n := range int32(maxGates) {
		a.OpenGate(n, l.gateTrial())
	}
	return a
}

// InitSink prepares an area that swallows everything: for forked children,
// which run on with the moved code and must not disturb their parent's counts.
func InitSink(l Layout, mem []byte, base uint64) *Area {
	a := New(l, mem, base, base+l.Waits(), 1<<62, 1<<62, 0)
	a.put(offMuted, 1)
	return a
}

func (a *Area) put(off, v uint64)        { binary.LittleEndian.PutUint64(a.mem[off:], v) }
func (a *Area) get(off uint64) uint64    { return binary.LittleEndian.Uint64(a.mem[off:]) }
func (a *Area) pos(linear uint64) uint64 { return linear - a.base }
