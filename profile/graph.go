package profile

// Graph is the interprocedural control-flow graph of the counted functions
// (docs/method.md, rule 2). Vertices are basic blocks. A call does not end a
// block unless the thread may be caught in it: it is one more out-edge, block →
// callee's entry. There are no return edges.
type Graph struct {
	Functions []Function // index: FunctionID, sorted by Entry
	Blocks    []Block    // index: BlockID, those of a function together and sorted by Start
	Edges     []Edge
}

// Function is one function of the program, with its .cold part when it has one.
type Function struct {
	Name       string
	Entry      Addr
	End        Addr    // of the part that holds Entry
	First      BlockID // its blocks are First … First+N−1
	N          int32
	EntryBlock BlockID
	// Opaque functions were relocated but not counted, or left alone: their
	// blocks have no events.
	Opaque bool
}

// Block is a basic block.
type Block struct {
	Function     FunctionID
	Start, End   Addr // [Start, End)
	Last         Addr // its last instruction
	Instructions int32
	Count        EventID // how often it was entered; NoEvent: unknown
	// Spin marks the blocks of a loop that only waits: it stores nothing and
	// calls nothing, and leaves when a value in memory changes. Its
	// executions measure waiting, not work.
	Spin bool
	// Virtual blocks hold no instructions: the meeting point of several
	// table jumps that share their targets, where only the sum is countable.
	Virtual bool
	// Deals marks a block whose branch depends on what the thread has just taken
	// from a store that all share: a counter that was fetched and advanced at
	// once, a queue under a lock. In a loop it is who is free that takes more.
	Deals bool
	// Runtime marks those of them that are of a library that hands work out: no line of
	// the program decides there.
	Runtime bool
	// Resumes marks a block to which control may come in other ways than by its
	// edges: behind a place where threads meet, or when setjmp returns again.
	Resumes bool
	// Accesses are the accesses to memory for which caches were simulated, one each
	// time that the block is entered: how far their instructions lie behind Start.
	// What instructions that repeat access, and functions that are simulated as one,
	// is not among them.
	Accesses []uint32
	// Branch is what the last instruction goes by, where it chooses between ways on.
	Branch Inputs
}

// Inputs is a set of what a value was made of, as far as threads may differ in that: of
// the arguments that its function was called with bit i for the i-th that stands in a
// register, and InputData. Where it has InputsKnown alone, all threads that came the same
// way have the same value.
type Inputs uint8

const (
	InputArguments        = 6      // that may be told apart
	InputData      Inputs = 1 << 6 // what was read of memory that is not one place for all, or returned by calls
	InputsKnown    Inputs = 1 << 7 // there is nothing else; without it nothing is known
)

// EdgeKind says how control goes from one block to the next.
type EdgeKind uint8

const (
	Fall     EdgeKind = iota // falls through, also: not taken
	Taken                    // a conditional jump, taken
	Jump                     // an unconditional jump
	Table                    // a switch
	Call                     // a direct call
	Indirect                 // a call through a pointer, with its recorded target
	TailCall                 // a jump to another function, direct or through a pointer
	Start                    // START → a function entered from outside the graph: a thread's start, a callback
	Pad                      // a throw, or START where it is not known → a landing pad: an exception was caught here; Site is the call in the pad's function that it came through
	Exit                     // → NoBlock: returns, or leaves the program
)

// IsCall reports whether an edge of this kind enters a function from another
// place of the graph: START edges do not, nor do exceptions.
func (k EdgeKind) IsCall() bool { return k == Call || k == Indirect || k == TailCall }

// Edge is one control-flow edge. Direct calls share the event of their block.
type Edge struct {
	From, To BlockID // NoBlock: START (From) or outside (To)
	Kind     EdgeKind
	Site     Addr    // the jump or call that decides it; 0 for Fall without one and Start
	Count    EventID // NoEvent: unknown
	Passes   uint64  // of a call: the inputs of each argument, the first one's in the lowest eight bits; 0: not known
}

// Passed is what a call passes as its i-th argument.
func (e *Edge) Passed(i int) Inputs { return Inputs(e.Passes >> (8 * i)) }

// EventKind says what an event counts.
type EventKind uint8

const (
	BlockEntered EventKind = iota // Block
	EdgeTaken                     // Edge
	// Hardware events at an instruction (a cache miss, a page fault) follow
	// here; they name their instruction by Addr and their superior by Superior.
	Hardware
)

// Event is something counted per thread.
type Event struct {
	Kind EventKind
	// Of a hardware event. Writes: it is of accesses that only write. Called: it is of what
	// libraries access that are not counted, which the instruction calls; how often they do
	// is not known.
	Writes, Called bool

	Block    BlockID // of BlockEntered, and the block that holds a hardware event's instruction
	Edge     int32   // of EdgeTaken: index into Graph.Edges
	Superior EventID // of a hardware event: what must happen for it to happen (3.1); else NoEvent
	Addr     Addr    // of the instruction that it stands for: a block's start, an edge's jump or call
	Name     string  // of a hardware event: "l1d-miss", "page-fault"; else empty

	// Of a hardware event, as far as they are known:
	Reason  string   // why a cache missed: "cold", "capacity", "conflict", "true-sharing", "false-sharing"
	Cycles  uint32   // modelled, that one of it adds to the one that each instruction takes
	Writer  ThreadID // who makes the writes that take the line away, counted from 1; 0: several threads
	Partner Addr     // the instruction that makes them most often
	// Doubt is half of the interval that holds, in 95 of 100 cases, how often it
	// happened in the run, as a part of that: where some of the sets of caches stand for all. 0: counted.
	Doubt float64
}
