package goroutine

import (
	_ "embed"
	"encoding/binary"
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

//go:generate sh -c "as -o switch.o switch.S && objcopy -O binary -j .text switch.o switch.bin && rm switch.o"
//go:embed switch.bin
var switches []byte

// Words at the beginning of switch.S, by number.
const (
	wordTable = iota
	wordCommon
	wordPool
	wordGoid
	wordGopc
	wordStart
	wordParent
	wordHigh
	wordSP
	wordResume
	wordLeave
	wordEnd
	wordRecover
	wordEmpty
	wordUnwound
	wordRecovered
	wordAsked
	wordMake
	wordReceive
	wordChoose
	wordSend
	wordRecorder
	wordKindMake
	wordKindReceive
	wordKindSend
	wordKindFirst
	wordSays
	wordGoes
	wordAsk
	wordCurrent
	wordProcessor
	wordTurn
	wordNumber
	wordPending
	wordGeneration
	wordNext
	wordBegin
	wordFollow
	wordExpand
	wordExpand22
	wordCopies
	wordCopiesSize
	wordReturn
	wordFrame
	wordCalls
	wordBack
	wordKindMakes
	wordPC
	wordLow
	wordReason
	wordParkM
	wordKindWoke
	wordPark
	wordReady
	wordReplace
	wordReplaced
	wordTold
	words
)

// reasons is how many of the runtime's reasons to wait switch.S tells apart, by 32 bits for
// each behind the words.
const reasons = 64

// Sizes of what switch.S uses, in bytes.
const (
	TableSize = 16 << 20
	PoolAreas = 4096
	PoolSize  = 64 + 8*PoolAreas + 32*256 + 64 // with who was asked to leave its thread, and whose work takes long
	CodeSize  = 8192
)

// Function is one of the runtime's that gets a detour: as many of its first
// instructions as a jump takes.
type Function struct {
	Addr  uint64 // at run time
	Bytes []byte // from there on
}

// Functions are those of the runtime's, by what they do.
type Functions struct {
	Resume, End, Recover Function
	Leave                []Function
	Park, Ready          Function // a goroutine leaves its thread, which may be to wait, and is let go on
	ParkM                uint64   // what the one is called with where it waits
	Make                 Function
	Calls, Back          Function // where a goroutine goes to the system or to C, and comes back
	Receive              []Function
	Choose, Send         []Function // one, where the program has any
	Ask                  []Function // one, if any: sends a thread a signal
	System               []Function // likewise: makes a system call
	// Those that look at return addresses: where a walk up a stack begins, and goes on;
	// along frame pointers, and what looks up what was found so, as it is now and as it
	// was in Go 1.22.
	Begin, Next              Function
	Follow, Expand, Expand22 []Function
	Preempt                  Function // what goroutines that are interrupted seem to call, without a detour
}

// Code is what goes into the target, and the jumps that lead there.
type Code struct {
	Base  uint64
	Bytes []byte
	Jumps []Jump
	// Returns are the addresses behind the calls of detours, by which each is called that
	// stands on a function of the runtime's, and behind the call that records a wait: below
	// on the stack is that function's own return address, or where the goroutine was left.
	Returns map[uint64]bool
}

// Jump is one of the detours' ways in.
type Jump struct {
	At       uint64
	Old, New []byte
}

// Place is where everything lies in the target.
type Place struct {
	Code, Table, Common, Pool, Recorder uint64
	Says, Goes                          uint64 // of look.S in package threadarea
	Copies, CopiesSize                  uint64 // moved code
}

// Kinds are those of the records that a goroutine makes another one, with what it has
// counted (Makes) and without, and that it receives from a channel, or sends there, and
// that it receives for the first time; that it goes on which has waited, and that it lets
// one go on that does.
type Kinds struct {
	Makes, Make, Receive, Send, First uint32
	Parked, Slept, Polled, Woke       uint32
}

// Assemble writes the code.
func Assemble(at Place, l Layout, fs Functions, kinds Kinds) (*Code, error) {
	c := &Code{Base: at.Code, Returns: map[uint64]bool{at.Code + word64(switches, wordTold): true}}
	a := asm.New(at.Code)
	a.Raw(switches...)
	for _, x := range []struct {
		list []Function
		word int
	}{{[]Function{fs.Resume}, wordResume}, {fs.Leave, wordLeave}, {[]Function{fs.End}, wordEnd}, {[]Function{fs.Recover}, wordRecover}, {[]Function{fs.Park}, wordPark}, {[]Function{fs.Ready}, wordReady}, {[]Function{fs.Calls}, wordCalls}, {[]Function{fs.Back}, wordBack},
		{[]Function{fs.Make}, wordMake}, {fs.Receive, wordReceive}, {fs.Choose, wordChoose}, {fs.Send, wordSend}, {fs.Ask, wordAsk}, {fs.System, wordReplace},
		{[]Function{fs.Begin}, wordBegin}, {[]Function{fs.Next}, wordNext}, {fs.Follow, wordFollow}, {fs.Expand, wordExpand}, {fs.Expand22, wordExpand22}} {
		for _, f := range x.list {
			if err := c.detour(a, f, at.Code+word64(switches, x.word)); err != nil {
				return nil, err
			}
		}
	}
	if a.Link(); a.Err() != nil {
		return nil, a.Err()
	}
	c.Bytes = a.Bytes()
	for i, v := range map[int]uint64{wordRecorder: at.Recorder, wordKindMakes: uint64(kinds.Makes), wordKindMake: uint64(kinds.Make), wordKindReceive: uint64(kinds.Receive), wordKindSend: uint64(kinds.Send),
		wordKindFirst: uint64(kinds.First), wordSays: at.Says, wordGoes: at.Goes,
		wordCurrent: uint64(l.Current), wordProcessor: uint64(l.Processor), wordTurn: uint64(l.Turn), wordNumber: uint64(l.Number), wordPending: uint64(l.Pending), wordGeneration: uint64(l.Generation),
		wordPC: uint64(l.PC), wordLow: uint64(l.StackLow), wordReason: uint64(l.Reason), wordParkM: fs.ParkM, wordKindWoke: uint64(kinds.Woke), wordCopies: at.Copies, wordCopiesSize: at.CopiesSize, wordReturn: uint64(l.Return), wordFrame: uint64(l.Frame)} {
		binary.LittleEndian.PutUint64(c.Bytes[8*i:], v)
	}
	for i, v := range []uint64{at.Table, at.Common, at.Pool, uint64(l.ID), uint64(l.Created), uint64(l.Start), uint64(l.Parent), uint64(l.StackHigh), uint64(l.SP)} {
		binary.LittleEndian.PutUint64(c.Bytes[8*i:], v)
	}
	for reason := range reasons {
		binary.LittleEndian.PutUint32(c.Bytes[8*words+4*reason:], kinds.of(&l, reason))
	}
	return c, nil
}

// of is the kind of a record that a goroutine goes on which has waited for one of the
// runtime's reasons; 0: there is none.
func (k *Kinds) of(l *Layout, reason int) uint32 {
	switch is := int64(1) << reason; {
	case l.Conditions&is != 0:
		return k.Parked
	case l.Sleeps&is != 0:
		return k.Slept
	case l.Polls&is != 0:
		return k.Polled
	}
	return 0
}

// detour writes what a function jumps to: a call of a routine, and the instructions that the
// jump is written over.
func (c *Code) detour(a *asm.Assembler, f Function, routine uint64) error {
	old, called, from := 0, false, a.PC()
	call := func() {
		a.CallTo(routine)
		c.Returns[a.PC()], called = true, true
	}
	if !f.checks() {
		call()
	}
	for old < asm.JumpLen || !called {
		in, err := x86.Decode(f.Bytes[old:min(len(f.Bytes), old+15)], f.Addr+uint64(old))
		if err != nil {
			return fmt.Errorf("the code at %#x: %w", f.Addr+uint64(old), err)
		}
		switch {
		case in.Kind == x86.Normal:
			a.Copy(&in)
		case in.Kind == x86.Jcc:
			if a.JccTo(in.CC, in.Target); !called {
				call()
			}
		default:
			return fmt.Errorf("the code at %#x is not what it was in any Go so far", f.Addr)
		}
		old += in.Len()
	}
	a.JmpTo(f.Addr + uint64(old))
	j := asm.Jump(f.Addr, from)
	c.Jumps = append(c.Jumps, Jump{f.Addr, f.Bytes[:asm.JumpLen], j[:]})
	return nil
}

// checks reports whether a function looks first whether the stack is large enough, and
// whether the goroutine is to leave its thread. If so it begins anew when it goes on, and
// what it does is told behind that.
//
//	cmp  rsp, [r14+16]
//	jbe  …
func (f Function) checks() bool {
	const most = 4 // instructions
	guarded, at := false, 0
	for range most {
		in, err := x86.Decode(f.Bytes[at:min(len(f.Bytes), at+15)], f.Addr+uint64(at))
		if err != nil || in.Kind != x86.Normal {
			return err == nil && guarded && in.Kind == x86.Jcc
		}
		guarded = guarded || in.HasMem && in.Mem.Base == x86.R14 && in.Mem.Disp == 16
		at += in.Len()
	}
	return false
}

func word64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }

// Stop is why the code stops a thread.
type Stop int

const (
	NoStop    Stop = iota
	Empty          // the pool has no area for the goroutine whose number in it is in rax
	Unwound        // the goroutine at r8, whose area is at rdi, ends with functions that were not left
	Recovered      // a panic of that at rax was recovered
	Replaced       // another program may be about to take this one's place
	Asked          // whether more of what the one sends whose area is at rdi is to be recorded
)

// StopAt says what a stop at an address means: behind an int3.
func (c *Code) StopAt(pc uint64) Stop {
	switch pc - 1 - c.Base {
	case word64(switches, wordEmpty):
		return Empty
	case word64(switches, wordUnwound):
		return Unwound
	case word64(switches, wordRecovered):
		return Recovered
	case word64(switches, wordReplaced):
		return Replaced
	case word64(switches, wordAsked):
		return Asked
	}
	return NoStop
}
