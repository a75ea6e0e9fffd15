package goroutine

import (
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Go's runtime interrupts a goroutine that calls nothing by a signal, as if it had called
// runtime.asyncPreempt where it stood. That puts the registers on the stack, and there they
// are until the goroutine goes on:
//
//	rsp when it goes on ─▶ …
//	                       where it goes on
//	                       rbp, flags, …
//	                       registers ◀─ rsp + what the instruction says
//
// Where is read from its instructions, which differ from one Go to the next.

// Saved is where the registers of an interrupted goroutine are.
type Saved struct {
	At   map[x86.Reg]int64 // from its stack pointer when it goes on, in bytes
	From uint64            // the address in the function from which on all are there
}

// SavedBy reads that from the function.
func SavedBy(f Function) (s Saved, err error) {
	s.At = map[x86.Reg]int64{}
	depth := int64(8) // of the stack, with where the goroutine goes on
	for at := 0; at < len(f.Bytes); {
		in, err := x86.Decode(f.Bytes[at:min(len(f.Bytes), at+15)], f.Addr+uint64(at))
		if err != nil || in.Kind != x86.Normal {
			break
		}
		const push, pushf, store, rm = 0x50, 0x9c, 0x89, 3
		n, adds := in.Adds()
		switch {
		case in.Opcode&^7 == push && in.Map == 0 && in.Vex == 0:
			depth += 8
			s.At[x86.Reg(in.Opcode&7)|x86.Reg(in.Rex&1)<<3] = -depth
		case in.Opcode == pushf && in.Map == 0:
			depth += 8
		case adds && in.RM == x86.RSP && in.ModRM>>6 == rm:
			depth -= n
		case in.Opcode == store && in.Map == 0 && in.Rex&8 != 0 && in.HasMem && in.Mem.Base == x86.RSP && in.Mem.Index == x86.None:
			s.At[in.Reg], s.From = int64(in.Mem.Disp)-depth, in.End()
		}
		at += in.Len()
	}
	const all = 15 // without the stack pointer
	if len(s.At) != all {
		return s, fmt.Errorf("runtime.asyncPreempt saves %d registers, and not all %d as in every Go so far", len(s.At), all)
	}
	return s, nil
}
