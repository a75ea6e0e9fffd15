package threadarea

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"slices"
)

// The code that all copies share; a test assembles it again. It lies at the
// beginning of every code cache.
//
//go:generate sh -c "for f in recorder look; do as -o ${DOLLAR}f.o ${DOLLAR}f.S && objcopy -O binary -j .text ${DOLLAR}f.o ${DOLLAR}f.bin && rm ${DOLLAR}f.o; done"
//go:embed recorder.bin
var recorder []byte

//go:embed look.bin
var look []byte

// Recorder is recorder.S and look.S, assembled.
var Recorder = slices.Concat(recorder, make([]byte, -len(recorder)&15), look)

// Where in Recorder is look.S: TakesEntry is called before a thread takes what
// others may want as well, SaysEntry where a thread leaves a goroutine, GoesEntry
// where one goes on with one and is ahead, LookEntry now and then; LookEnd is its ret.
// RestsEntry is called before a thread waits in a runtime that may spin, WorksEntry when it goes on.
var (
	TakesEntry = uint64(len(recorder)+15) &^ 15
	SaysEntry  = TakesEntry + saysAt
	GoesEntry  = TakesEntry + goesAt
	LookEntry  = TakesEntry + lookAt
	LookEnd    = TakesEntry + lookRet
	RestsEntry = TakesEntry + restsAt
	WorksEntry = TakesEntry + worksAt
)

const (
	saysAt  = 0x50
	goesAt  = 0x60
	lookAt  = 0x70
	lookRet = 0x53b
	restsAt = 0x540
	worksAt = 0x580
)

// RecorderOf is Recorder for a module whose text begins so far from the cache and
// has so many bytes.
func RecorderOf(text int32, bytes uint32) []byte {
	b := slices.Clone(Recorder)
	binary.LittleEndian.PutUint32(b[textAt:], uint32(text))
	binary.LittleEndian.PutUint32(b[textAt+4:], max(bytes, entryLen)-entryLen)
	return b
}

// Telling has what RecorderOf returns make no record before the accesses are counted that
// its thread has told of (Area.Tells).
func Telling(recorder []byte) { binary.LittleEndian.PutUint32(recorder[tellingAt:], 1) }

const (
	tellingAt = 24 // a test looks
	textAt    = 8
	entryLen  = 8 // what is read at a target
)

// Offsets in Recorder.
const (
	RecordEntry   = 0     // called by hooks, with the event's kind in r11d
	IndirectEntry = 16    // called for a target that has no inline counter: r11, with twice the site's number in eax
	EnterEntry    = 32    // called for a function that the thread enters for the first time; its number is pushed before
	Spawns        = 48    // called by the hook of what has a task made (tasks.inc),
	RegionBegins  = 64    // of what returns when all were executed,
	RegionEnds    = 80    // where the program goes on behind that,
	TaskBegins    = 96    // and by the hook of a task
	RecordBody    = 112   // where RecordEntry jumps to
	RecordEnd     = 0x4da // its ret
)

// Where in Recorder a team of threads is forked (team.inc), with the kind of the
// fork's record in eax and in r10 what leads to the runtime's function; and how far
// below the return address of the program's call then lies the token.
var (
	GompFork   = bridgesAt - 64
	GompReduce = bridgesAt - 48
	KmpcFork   = bridgesAt - 32
	KmpcDecide = bridgesAt - 16
)

// TokenBelow: see GompFork.
const TokenBelow = 32

// Bridge is how to come from a call that team.inc makes to its caller, or for those
// of the runtime's functions to the program's call: where that returns to is kept so
// many bytes above a register, the stack pointer or else rbp, which leads to where
// rbp is kept.
type Bridge struct {
	ByRBP bool
	Above int64
}

// BridgeAt is that of the call in Recorder that returns to an offset.
func BridgeAt(offset uint64) (b Bridge, ok bool) {
	for i, b := range bridges {
		if offset > 0 && offset == uint64(binary.LittleEndian.Uint32(recorder[bridgesAt+4*uint64(i):])) {
			return b, true
		}
	}
	return b, false
}

// bridges are those of the calls whose returns stand at the recorder's end.
var (
	bridges   = [8]Bridge{{false, 56}, {false, 8}, {true, 40}, {true, 8}, {false, 40}, {false, 40}, {false, 8}}
	bridgesAt = uint64(len(recorder) - 4*len(bridges))
)

// SyscallAt is where in Recorder a system call is made.
var SyscallAt = uint64(bytes.Index(Recorder, []byte{0x0f, 0x05}))

// What an event's kind asks of the recorder, beside the number itself.
const (
	ScanBit  = 1 << 31 // the changed counters
	WaitBit  = 1 << 30 // to mark the object as waited on
	WakeBit  = 1 << 29 // no record where nobody waits
	ChainBit = 1 << 28 // a piece of the stack, for who made the call
	// LibraryBit is of no concern to the recorder: a library made the call.
	LibraryBit = 1 << 27
	DeepBit    = 1 << 26 // with ChainBit: a larger piece
	QuietBit   = 1 << 25 // to record no system call that the called function blocks in
	kindMask   = QuietBit - 1

	// RawKind is that of records that hold no counters, but whatever their
	// writer (timer.S in package blocking) has put there.
	RawKind = 0x1ffffff
)

// IsFull reports whether a stop at an offset of the recorder says that the
// thread's ring is full: its only int3 lies right before.
func IsFull(offset uint64) bool {
	return offset > 0 && offset <= uint64(len(recorder)) && recorder[offset-1] == 0xcc
}
