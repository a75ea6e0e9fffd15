package threadarea

// Offsets in a thread's area; recorder.S has the same.
const (
	offMuted    = 0x00
	offRing     = 0x08
	OffLimit    = 0x10 // 0 where the next record is to wait for the profiler, as in a full ring
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
	offPending  = 0x78 // of look.S
	offKeys     = 0x80
	offLost     = 0x88
	offWaits    = 0x90
	offTop      = 0x98
	offLive     = 0xa0
	offNLive    = 0xa8
	offEntered  = 0xb0
	offRanges   = 0xb8
	offLong     = 0xf0 // of timer.S in package blocking
	// OffTimer is where moved code finds timer.S.
	OffTimer = 0xf8

	// Of threads that are not traced: see guard.S in package blocking.
	offGuard  = 0xc0
	offPool   = 0xc8
	offSelf   = 0xd0
	offAsk    = 0xd8
	offState  = 0x100
	offTid    = 0x108
	offBorn   = 0x110
	offEnded  = 0x118
	offCPU    = 0x120
	offParent = 0x130
	offAsked  = 0x138

	// Of look.S.
	OffFuel   = 0x140 // passes until the next look
	offGiven  = 0x148
	offBase   = 0x150
	offOwn    = 0x158
	offEntry  = 0x160
	offTable  = 0x168
	offWorths = 0x170
	// OffPaused is 32 bits: the thread has said that it waits, by pause or sched_yield.
	OffPaused = 0x178
	OffAlone  = 0x128 // 32 bits: no other thread has a clock
	offIdle   = 0x17c
	offLast   = 0x180
	// OffLocks is 32 bits: how many of the library's locks the thread holds.
	OffLocks = 0x188
	// OffQuiet is 32 bits: right below where on the stack calls are not recorded in
	// which the thread blocks, and 1 more if it has; 0: all are.
	OffQuiet = 0x208
	// OffCaches is where a thread's part of simulated caches lies (package caches).
	OffCaches = 0x198
	// Of a goroutine: where the runtime has it, what it says of it, and how long
	// threads were at it (switch.S in package goroutine).
	offRuntime = 0x1a0
	offGoid    = 0x1a8
	offGopc    = 0x1b0
	offStart   = 0x1b8
	offGoer    = 0x1c0
	offResumed = 0x1c8
	offStints  = 0x1d0
	offMade    = 0x1d8
	offSent    = 0x1dc
	offMine    = 0x1f8 // where the area lies that is the thread's own
	offRan     = 0x228 // the thread's CPU clock when it went on with it, or 0
	offRate    = 0x230 // ticks in a nanosecond, times 2³²
	// Two of 32 bits: the kind of the last record with counters, and by which call a
	// goroutine has made the last one.
	offScanned = 0x238
	offMadeBy  = 0x23c
	// Of a goroutine that waits: when its thread left it, when it was let go on, 0 where that
	// is not known, and 32 bits: the kind of the record of its wait, 0 where it does not.
	offStopped = 0x240
	offWoken   = 0x248
	offParked  = 0x250
	offUntold  = 0x258 // ticks, of its waits that are not recorded
	// Two of 32 bits: how far from GS the bits lie that say which eights of misses have
	// changed since the last record, in the words of live from the second on. There are none
	// where that is noChanged.
	offChanged   = 0x200
	offChangedAt = 0x204
	noChanged    = 1<<32 - 1
	// Of tasks.inc; offSeen of the process's common memory is the count.
	offOuter = 0x1e0
	offSeen  = 0x1e8
	offEpoch = 0x1f0
	// OffOwes is 32 bits, not 0 where it is to look before it takes something, 2
	// or 3 where it is to as soon as it holds no lock.
	OffOwes = 0x18c

	headerSize = 640

	recordHeader = 56 // bytes before a record's pairs
	pairSize     = 16
	stackHeader  = 64 // bytes before the words of a piece of the stack
	stackWords   = 4096

	// Gates of regions in which threads may meet, of all modules.
	maxGates = 512
	gateSize = 8
	// gateTrial is how many records a gate may make until the profiler looks what it is.
	// Until then each may have all counters, which are many in a large program.
	gateTrial = 256

	siteSize = 32 // two targets of an indirect call, and where their copies begin
	// Targets beyond two per site, per thread.
	overCap    = 8192
	hashSize   = 2 * overCap
	hashWindow = 256
	hashStep   = 16
)

// Layout is the shape of one thread's area: shared memory that GS points to
// in the target and that the profiler maps too.
//
//	header │ counters: chords, sites, misses, overflow │ shadow │ targets │ hash │ keys │ entered │ gates │ ring │ live │ ranges │ units │ clocks │ worths │ caches
type Layout struct {
	Chords, Sites int
	Ops           int // simulated accesses
	funcs         []Function
	loops         int32 // that may deal work out
	counters, shadow, targets, hash, keys, entered, gates, ring, live, ranges,
	clocks, worths, units, caches, size uint64 // clocks: 0 where there are none
}

const pageMask = 4095

// Function is a function that counts: where its counters end, which begin
// where those of the one before end.
type Function struct {
	Chords, Sites int32 // the first number behind its own
	Always        bool  // it is not known when it is entered
}

// NewLayout lays out an area for the counters of functions, and of the misses of
// so many accesses.
func NewLayout(funcs []Function, ops int32) Layout {
	l := Layout{funcs: funcs, Ops: int(ops)}
	if n := len(funcs); n > 0 {
		l.Chords, l.Sites = int(funcs[n-1].Chords), int(funcs[n-1].Sites)
	}
	n := uint64((l.Fixed()+overCap+7)&^7) * 8 // eights that are looked at together lie in one line each
	l.counters = headerSize
	l.shadow = l.counters + n
	l.targets = l.shadow + n
	l.hash = l.targets + uint64(l.Sites)*siteSize
	l.keys = l.hash + (hashSize+hashWindow)*hashStep
	l.entered = l.keys + overCap*16
	l.gates = (l.entered + uint64(len(funcs)) + pageMask) &^ pageMask
	l.ring = l.gates + maxGates*gateSize
	l.live = (l.ring + max(256<<10, 4*l.recordMax()) + pageMask) &^ pageMask
	l.ranges = l.live + 8*l.liveWords()
	l.size = (l.ranges + 8*uint64(len(funcs)+1) + pageMask) &^ pageMask
	return l
}

// liveWords is how many words hold a bit for every eight counters.
func (l *Layout) liveWords() uint64 { return uint64(l.Fixed())/512 + 1 }

// EnteredOffset is where the byte lies, from GS, that is not 0 once the thread
// has entered the first function; those of the others follow.
func (l Layout) EnteredOffset() uint32 { return uint32(l.entered) }

// Fixed is the number of counters known before the run.
func (l *Layout) Fixed() int {
	if l.Ops == 0 {
		return l.Chords + 2*l.Sites
	}
	return l.Misses() + MissClasses*l.Ops
}

// MissClasses is how many counters a simulated access has.
const MissClasses = 16

// Misses is the number of the first of them: with its fifteen others it has two
// of the bits that say which eights of counters are looked at.
func (l *Layout) Misses() int {
	return (l.Chords + 2*l.Sites + MissClasses - 1) &^ (MissClasses - 1)
}

// Size is the bytes of one thread's area, whole pages.
func (l Layout) Size() uint64 { return l.size }

// limit is the last place of the ring where a record of any size fits.
func (l *Layout) limit() uint64 { return l.live - l.recordMax() }

func (l *Layout) recordMax() uint64 {
	return recordHeader + stackHeader + 8*stackWords + pairSize*uint64(l.Fixed()+overCap)
}

// CounterOffset is where a counter lies, from GS.
func CounterOffset(c int32) uint32 { return headerSize + 8*uint32(c) }

// TargetOffset is where the targets of indirect calls lie, from GS: for each site two,
// and where a call can go instead.
func (l Layout) TargetOffset() uint32 { return uint32(l.targets) }

// Slot is where the i-th of a site's targets lies from there, and Copy where it can go on.
func Slot(site, i int32) uint32 { return siteSize*uint32(site) + 8*uint32(i) }
func Copy(site, i int32) uint32 { return Slot(site, 2+i) }

// Pairs of a target and a site stand in a table in the order of sites, which is
// that of the code: what is looked up one after the other lies together. A site
// has a window of the table, and windows overlap. In it, a pair is looked for
// first where the target's low 32 bits times HashFactor say, in bytes: shifted
// right by HashShift, and HashMask.
const (
	HashFactor = -0x61c88647 // 2³² divided by the golden ratio
	HashShift  = 20
	HashMask   = hashStep * (hashWindow - 1)
)

// HashOffset is where the table lies, from GS.
func (l Layout) HashOffset() uint32 { return uint32(l.hash) }

// HashWindow is where a site's window begins in it, and HashKey what stands
// eight bytes behind a target of the site; four bytes further is the number of
// the counter, from OverOffset.
func HashWindow(site int32) uint32 { return hashStep * (8 * uint32(site) & (hashSize - 1)) }

// HashKey: see HashWindow.
func HashKey(site int32) uint32 { return 2*uint32(site) + 1 }

// OverOffset is where the counter number 0 of the table would lie, from GS;
// they begin with 1.
func (l Layout) OverOffset() uint32 { return CounterOffset(int32(l.Fixed())) - 8 }

// Gates is where the state of each gate lies, from GS: first how many records
// it may still make, then whether the thread is between its ways in and out.
func (l Layout) Gates() uint32 { return uint32(l.gates) }

// GateOffset is where a gate's two words of 32 bits lie, from Gates.
func GateOffset(n int32) uint32 { return gateSize * uint32(n) }

// Waits is where the process's table of waits lies in its common memory,
// which has no use for its ring.
func (l Layout) Waits() uint64 { return l.ring }
