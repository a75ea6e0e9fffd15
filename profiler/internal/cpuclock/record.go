package cpuclock

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/skewlens/skewlens/profiler/internal/unwind"
)

// record is one thing that the kernel has written, with its time.
type record struct {
	at     uint64
	pid    uint32
	tid    uint32 // of a sample
	parent uint32 // of a fork: the process that pid was made by
	kind   kind
	mapped unwind.Mapping // of a mapping
	piece  unwind.Piece   // of a sample; no Words: nothing is known of it
	lost   uint64
}

type kind int

const (
	sampled kind = iota
	mapping
	forked
	execed
	lost
)

const (
	recordMmap2 = 10
	miscExec    = 1 << 13 // of a comm record: exec did it
)

// parse reads a record; ok is false for those of no interest. What the kernel
// writes is as long as it says.
func parse(of uint32, misc uint16, b []byte) (r record, ok bool) {
	c := cursor{b}
	if of == unix.PERF_RECORD_SAMPLE {
		r.pid, r.tid = c.u32(), c.u32()
		r.at = c.u64()
		r.piece = c.piece()
		return r, true
	}
	if len(b) < 16 {
		return r, false
	}
	r.at = binary.NativeEndian.Uint64(b[len(b)-8:]) // the pid, tid and time that all records end with
	switch of {
	case recordMmap2:
		r.kind, r.pid = mapping, c.u32()
		c.u32()
		lo, size, offset := c.u64(), c.u64(), c.u64()
		c.skip(4 + 4 + 8 + 8 + 4 + 4) // device, inode, its generation, protection, flags
		name, _, _ := bytes.Cut(c.b, []byte{0})
		r.mapped = unwind.Mapping{Lo: lo, Hi: lo + size, Offset: offset, Path: string(name)}
		return r, true
	case unix.PERF_RECORD_FORK:
		r.kind, r.pid, r.parent = forked, c.u32(), c.u32()
		return r, r.pid != r.parent // else it is a thread
	case unix.PERF_RECORD_COMM:
		r.kind, r.pid = execed, c.u32()
		return r, misc&miscExec != 0
	case unix.PERF_RECORD_LOST:
		r.kind = lost
		c.u64()
		r.lost = c.u64()
		return r, true
	}
	return r, false
}

// cursor reads fields; behind the end there are zeros.
type cursor struct{ b []byte }

func (c *cursor) skip(n int) { c.b = c.b[min(n, len(c.b)):] }

func (c *cursor) u32() (x uint32) {
	if len(c.b) >= 4 {
		x = binary.NativeEndian.Uint32(c.b)
	}
	c.skip(4)
	return x
}

func (c *cursor) u64() (x uint64) {
	if len(c.b) >= 8 {
		x = binary.NativeEndian.Uint64(c.b)
	}
	c.skip(8)
	return x
}

// piece reads the registers and the stack of a sample of a 64-bit program.
func (c *cursor) piece() (p unwind.Piece) {
	const abi64 = 2
	switch c.u64() {
	case abi64:
		for _, to := range dwarf {
			p.Regs[to] = c.u64()
		}
	default: // none, or a 32-bit program, of which nothing is known
		return p
	}
	size := int(c.u64())
	p.Words = c.b[:min(size, len(c.b))]
	c.skip(size)
	if n := c.u64(); n < uint64(len(p.Words)) { // so many of them are the stack
		p.Words = p.Words[:n]
	}
	return p
}
