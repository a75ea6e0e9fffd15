package blocking

import (
	_ "embed"
	"encoding/binary"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
)

//go:embed ward.bin
var ward []byte

// Offsets in ward.bin; a test compares them.
const (
	wardBack    = 0x2e // displacement of the jump back
	wardTrapped = 0x33 // behind its int3
)

// WardSize is what a ward takes, with its ranges: a page.
const WardSize = 4096

// Ward is the code at the beginning of mprotect by which a thread stops that makes code
// writable that was moved. Programs change the protection of other memory thousands of times
// a second, as collectors of garbage do: a stop at each would cost more than that.
type Ward struct {
	base, at uint64
}

// NewWard is the ward of an instruction that is as long as a jump, mov $10, %eax, at a
// run-time address, in memory at base.
func NewWard(base, at uint64) Ward { return Ward{base, at} }

// Code is what is written at base, and jump over the instruction. There are no ranges yet.
func (w Ward) Code() (code []byte, jump [asm.JumpLen]byte) {
	code = make([]byte, WardSize)
	copy(code, ward)
	d := asm.Relative(w.base+wardBack+4, w.at+asm.JumpLen)
	copy(code[wardBack:], d[:])
	return code, asm.Jump(w.at, w.base)
}

// Ranges is what is written, and where, for code that lies in these ranges; where they are
// too many everybody stops.
func (w Ward) Ranges(list [][2]uint64) (b []byte, addr uint64) {
	addr = w.base + uint64(len(ward))
	if len(list) > (WardSize-len(ward))/16-1 {
		list = [][2]uint64{{0, ^uint64(0)}}
	}
	for _, r := range append(list[:len(list):len(list)], [2]uint64{}) {
		b = binary.LittleEndian.AppendUint64(b, r[0])
		b = binary.LittleEndian.AppendUint64(b, r[1])
	}
	return b, addr
}

// Trapped reports whether a stop at an address is that of a thread that makes such code writable.
func (w Ward) Trapped(pc uint64) bool { return w.base != 0 && pc == w.base+wardTrapped }

// Holds reports whether a run-time address lies in the ward: who stands there can as well
// begin anew with the instruction.
func (w Ward) Holds(pc uint64) bool { return w.base != 0 && pc-w.base < uint64(len(ward)) }
