package probe

import (
	_ "embed"
	"encoding/binary"
)

// recorderCode is recorder.S, assembled; a test assembles it again.
//
//go:generate sh -c "as -o recorder.o recorder.S && objcopy -O binary -j .text recorder.o recorder.bin && rm recorder.o"
//go:embed recorder.bin
var recorderCode []byte

// Offsets in recorderCode.
const (
	recordEntry   = 0
	indirectEntry = 16
	recordBody    = 32
	recordEnd     = 0x1e2 // its ret
)

// Offsets in a thread's area; recorder.S has the same.
const (
	offMuted    = 0x00
	offRing     = 0x08
	offLimit    = 0x10
	offBusy     = 0x18
	offLastTSC  = 0x20
	offCPUGap   = 0x28
	offCounters = 0x30
	offShadow   = 0x38
	offNFixed   = 0x40
	offNOver    = 0x48
	offOverCap  = 0x50
	offOver     = 0x58
	offTargets  = 0x60
	offSiteCtr  = 0x68
	offHash     = 0x70
	offHashMask = 0x78
	offKeys     = 0x80
	offLost     = 0x88
	offWaits    = 0x90

	headerSize = 256

	recordHeader = 56 // bytes before a record's pairs
	pairSize     = 16

	// Targets of indirect calls beyond two per site, per thread.
	overCap  = 8192
	hashSize = 4 * overCap
)

// Layout is the shape of one thread's area: shared memory that GS points to
// in the target and that the profiler maps too.
//
//	header │ counters: chords, sites, overflow │ shadow │ targets │ hash │ keys │ ring
type Layout struct {
	Chords, Sites int
	counters, shadow, targets, hash, keys, ring,
	size uint64
}

const pageMask = 4095

// NewLayout lays out an area for so many chord counters and indirect call sites.
func NewLayout(chords, sites int) Layout {
	l := Layout{Chords: chords, Sites: sites}
	n := uint64(l.Fixed()+overCap) * 8
	l.counters = headerSize
	l.shadow = l.counters + n
	l.targets = l.shadow + n
	l.hash = l.targets + uint64(sites)*2*8
	l.keys = l.hash + hashSize*4
	l.ring = (l.keys + overCap*16 + pageMask) &^ pageMask
	l.size = (l.ring + max(256<<10, 4*l.recordMax()) + pageMask) &^ pageMask
	return l
}

// Fixed is the number of counters known before the run.
func (l Layout) Fixed() int { return l.Chords + 2*l.Sites }

// Size is the bytes of one thread's area, whole pages.
func (l Layout) Size() uint64 { return l.size }

func (l Layout) recordMax() uint64 { return recordHeader + pairSize*uint64(l.Fixed()+overCap) }

// counterOffset is where a chord's counter lies, from GS.
func counterOffset(c int32) uint32 { return headerSize + 8*uint32(c) }

// Area is the profiler's view of one thread's area.
type Area struct {
	l    Layout
	mem  []byte
	base uint64 // in the target
	read uint64 // ring position up to which records were taken
}

// Waits is where the process's table of waits lies in a muted area, which has
// no use for its ring.
func (l Layout) Waits() uint64 { return l.ring }

// NewArea prepares the memory of a new thread: mem is the profiler's view of
// it, base where it lies in the target, waits where the process's table of
// waits does. cpuGap is in ticks of the time stamp counter, now its present
// value.
func NewArea(l Layout, mem []byte, base, waits, cpuGap, now uint64) *Area {
	a := &Area{l: l, mem: mem, base: base}
	for off, v := range map[uint64]uint64{
		offRing: base + l.ring, offLimit: base + l.size - l.recordMax(), offLastTSC: now, offCPUGap: cpuGap,
		offCounters: base + l.counters, offShadow: base + l.shadow, offNFixed: uint64(l.Fixed()), offOverCap: overCap,
		offOver: base + l.counters + 8*uint64(l.Fixed()), offTargets: base + l.targets, offSiteCtr: base + l.counters + 8*uint64(l.Chords),
		offHash: base + l.hash, offHashMask: hashSize - 1, offKeys: base + l.keys,
		offWaits: waits,
	} {
		a.put(off, v)
	}
	a.read = l.ring
	return a
}

// Mute makes an area that swallows everything: for forked children, which
// run on with the moved code and must not disturb their parent's counts.
func Mute(mem []byte, l Layout, base uint64) {
	NewArea(l, mem, base, base+l.Waits(), 1<<62, 0).put(offMuted, 1)
}

func (a *Area) put(off, v uint64)        { binary.LittleEndian.PutUint64(a.mem[off:], v) }
func (a *Area) get(off uint64) uint64    { return binary.LittleEndian.Uint64(a.mem[off:]) }
func (a *Area) pos(linear uint64) uint64 { return linear - a.base }
