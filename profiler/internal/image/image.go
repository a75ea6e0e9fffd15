// Package image reads an ELF program as far as moving its functions needs:
// what its bytes are, where its functions begin and end, which stubs and slots
// stand for imported functions, and where exceptions land.
//
//	           ┌ sections, relocated contents ─▶ Bytes, Word
//	file ─Open─┤ symbols, or FDEs when stripped ─▶ Funcs
//	           ├ relocations ─▶ GOT ─▶ stubs in .plt* ─▶ PLT
//	           └ .eh_frame ─▶ FDEs ─▶ LSDAs ─▶ Pads
//
// Addresses are link-time addresses throughout; the load bias of a
// position-independent program is nobody's business here. The contents are
// what the dynamic linker makes of them before the program starts, at bias
// zero: relative relocations are applied, so that a table of absolute
// addresses reads as a table of link-time addresses.
//
// An image is read once, whole, and never changes. What the file says is not
// trusted: sizes are compared with the file's before memory is asked for, and
// whatever is malformed ends in an error, or, where the rest is of use without
// it (unwinding tables, symbols), in Image.Doubts.
package image

import "sort"

// Image is one ELF program.
type Image struct {
	Path        string
	Relocatable bool   // ET_DYN: it runs at an address that is not known before
	Static      bool   // no dynamic linker and no shared libraries
	Entry       uint64 // link-time
	// Lowest and Highest bound the segments that are loaded: [Lowest, Highest).
	Lowest, Highest uint64

	Sections []Section // allocated and with contents, sorted by Addr
	Funcs    []Func    // sorted by Addr, one per address
	PLT      map[uint64]string
	GOT      map[uint64]string
	FDEs     []FDE           // sorted by Start
	Pads     []uint64        // landing pads of all LSDAs, and of Go's panics, sorted, unique
	Landings []Landing       // of all LSDAs, sorted by Lo
	Imports  map[string]bool // undefined dynamic symbols, without version
	Exports  map[string]bool // functions among the defined ones
	// Unversioned are imports without a version, where others have one: no
	// functions of the system's libraries, which have versions.
	Unversioned map[string]bool

	BuildID  string   // hex; empty without one
	Stripped bool     // no .symtab
	Interp   string   // the dynamic linker, empty for static programs
	HasGo    bool     // has Go's own function table,
	Go       *GoTable // as it was understood; nil where it was not
	Cgo      bool     // it calls C, and was linked by C's compiler

	// Doubts are parts of the file that could not be read to their end, one
	// line each. The image holds what came before.
	Doubts []string

	reach []uint64 // reach[i]: where the last of Funcs[:i+1] to end ends
}

// Section is an allocated section with its contents.
type Section struct {
	Name        string
	Addr, Size  uint64
	Data        []byte // Size bytes, relative relocations applied
	Exec, Write bool
}

// Func is one function.
type Func struct {
	Name       string
	Addr, Size uint64 // Size > 0
	Cold       bool   // a .cold part, by name or by its unwind table: reached by jumps from its parent only
	Local      bool   // a local symbol
	IFunc      bool   // a resolver: called once, returns the function to use
	Synthetic  bool   // from the unwind table, without a symbol: its name is its address
}

// End is the address behind the function.
func (f *Func) End() uint64 { return f.Addr + f.Size }

// Landing is where an exception that a call in [Lo, Hi) throws lands, if that is
// what is caught there.
type Landing struct{ Lo, Hi, Pad uint64 }

// LandingOf returns where an exception that the call with a byte at an address
// throws may land; 0: in a caller.
func (im *Image) LandingOf(addr uint64) (pad uint64) {
	i := sort.Search(len(im.Landings), func(i int) bool { return im.Landings[i].Lo > addr })
	if i > 0 && addr < im.Landings[i-1].Hi {
		return im.Landings[i-1].Pad
	}
	return 0
}

// FDE is one entry of the unwind table: a range of code, and its table of
// landing pads if it has one.
type FDE struct {
	Start, Size uint64
	LSDA        uint64 // 0: none
	// Midway: the frame is there already when control comes to Start, so that it
	// is a part of a function, not the beginning of one.
	Midway bool
}
