package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
)

// Plan is how one function is moved: what is worth keeping for every function
// of a large program. The rest is made again where it is needed.
type Plan struct {
	Func   *cfg.Func
	Number int32 // among the moved functions of all modules
	Site   int32 // number of its first indirect call (Sites)
	After  int32 // number of the first counter behind its last one
	Op     int32 // number of its first access that is simulated (Ops)

	Incomplete     bool // some of its counts cannot be known
	EntryUnknown   bool // and how often it is entered is one of these
	CallersUnknown bool // it is called from where counts are not known
	Always         bool // control may come into its copy in other ways than by its entries

	callsUnknown bool       // what is not known before the run, and may call anything
	looks        bool       // threads may look where others are where it is entered: see look.go
	cycle        int32      // functions that may call each other, over others, have the same one
	calls        []callMode // by cfg.Call.Index
	excluded     []placement.Exclusion
	ran          []byte    // what ran before, see placement.Ran; nil: not known
	springboards []arrival // of five bytes
	shorts       []arrival // where only two fit
	islands      []arrival // of the shorts: five bytes elsewhere
	hops         []hop     // how the shorts get there
	first        int32     // number of its first counter
	unit         int32     // and of its first loop that may deal work out; −1: not known yet
	sites        int32     // how many indirect calls it has
	ops          int32     // how many accesses are simulated
	size         uint64    // an upper bound for its copy, in bytes
}

// callMode is how a call is made. Without a bit the copy jumps to the original
// call, and a springboard behind that leads back.
type callMode uint8

const (
	afterCall    callMode = 1 << iota // the original code runs on into it from the call before
	afterArrival                      // original code runs into it from where a springboard would have been
	fromCopy                          // it is made from the copy
	wherever                          // in Go, by a register: from the copy where its target is a known one, else by the original call
)

func (q *Plan) is(c *cfg.Call, m callMode) bool { return q.calls[c.Index]&m != 0 }

// CallsFromCopy reports whether a call of the function is made from the copy;
// else by the original instruction.
func (q *Plan) CallsFromCopy(c *cfg.Call) bool { return q.is(c, fromCopy) }

func (q *Plan) exclude(what placement.ExclusionKind, id int) {
	q.excluded = append(q.excluded, placement.Exclusion{What: what, ID: int32(id)})
}

// arrival is an address at which control comes into original code, and the
// place in the copy that it is led to: by the jump of five bytes that is
// written there, in plans; in islands by that which a hop leads to.
type arrival struct {
	at uint64
	to place
}

// hop is a jump of two bytes to write.
type hop struct{ at, to uint64 }

// place is a place in the copy of a function.
type place struct {
	kind placeKind
	id   int32
}

type placeKind uint8

const (
	atBlock  placeKind = iota // of a block's number
	atTable                   // counts the arrival from a switch at a block
	atPad                     // counts the arrival of an exception at a block
	atReturn                  // behind a call of that index
	atEntry                   // counts the entry, then the first block
)

func blockPlace(b *cfg.Block) place { return place{atBlock, int32(b.ID)} }
