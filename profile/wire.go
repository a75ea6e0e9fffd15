package profile

import (
	"encoding/binary"
	"errors"
	"math"
)

// The rows as they stand in a file: the same fields as the types of the
// model, under numbers that never change their meaning within a format. Go
// converts between structs that differ in tags only, so a field added to the
// model and forgotten here does not compile.
type (
	wireFunction struct {
		Name       string  `cbor:"1,keyasint,omitempty"`
		Entry      Addr    `cbor:"2,keyasint,omitempty"`
		End        Addr    `cbor:"3,keyasint,omitempty"`
		First      BlockID `cbor:"4,keyasint,omitempty"`
		N          int32   `cbor:"5,keyasint,omitempty"`
		EntryBlock BlockID `cbor:"6,keyasint,omitempty"`
		Opaque     bool    `cbor:"7,keyasint,omitempty"`
	}
	wireBlock struct {
		Function     FunctionID `cbor:"1,keyasint,omitempty"`
		Start        Addr       `cbor:"2,keyasint,omitempty"`
		End          Addr       `cbor:"3,keyasint,omitempty"`
		Last         Addr       `cbor:"4,keyasint,omitempty"`
		Instructions int32      `cbor:"5,keyasint,omitempty"`
		Count        EventID    `cbor:"6,keyasint,omitempty"`
		Spin         bool       `cbor:"7,keyasint,omitempty"`
		Virtual      bool       `cbor:"8,keyasint,omitempty"`
		Deals        bool       `cbor:"9,keyasint,omitempty"`
		Runtime      bool       `cbor:"13,keyasint,omitempty"`
		Resumes      bool       `cbor:"10,keyasint,omitempty"`
		Accesses     []uint32   `cbor:"11,keyasint,omitempty"`
		Branch       Inputs     `cbor:"12,keyasint,omitempty"`
	}
	wireEdge struct {
		From   BlockID  `cbor:"1,keyasint,omitempty"`
		To     BlockID  `cbor:"2,keyasint,omitempty"`
		Kind   EdgeKind `cbor:"3,keyasint,omitempty"`
		Site   Addr     `cbor:"4,keyasint,omitempty"`
		Count  EventID  `cbor:"5,keyasint,omitempty"`
		Passes uint64   `cbor:"6,keyasint,omitempty"`
	}
	wireEvent struct {
		Kind     EventKind `cbor:"1,keyasint,omitempty"`
		Block    BlockID   `cbor:"2,keyasint,omitempty"`
		Edge     int32     `cbor:"3,keyasint,omitempty"`
		Addr     Addr      `cbor:"4,keyasint,omitempty"`
		Name     string    `cbor:"5,keyasint,omitempty"`
		Superior EventID   `cbor:"6,keyasint,omitempty"`
		Reason   string    `cbor:"7,keyasint,omitempty"`
		Cycles   uint32    `cbor:"8,keyasint,omitempty"`
		Partner  Addr      `cbor:"9,keyasint,omitempty"`
		Writer   ThreadID  `cbor:"10,keyasint,omitempty"`
		Doubt    float64   `cbor:"11,keyasint,omitempty"`
		Writes   bool      `cbor:"12,keyasint,omitempty"`
		Called   bool      `cbor:"13,keyasint,omitempty"`
	}
	wireFrame struct {
		File     string `cbor:"1,keyasint,omitempty"`
		Line     int    `cbor:"2,keyasint,omitempty"`
		Column   int    `cbor:"3,keyasint,omitempty"`
		Function string `cbor:"4,keyasint,omitempty"`
	}
	wireSkipped struct {
		Function string `cbor:"1,keyasint,omitempty"`
		Reason   string `cbor:"2,keyasint,omitempty"`
	}
	wireWarning struct {
		Code    string `cbor:"1,keyasint,omitempty"`
		Message string `cbor:"2,keyasint,omitempty"`
	}
)

// The rows that hold others hold their number instead; the others follow in
// tables of their own.
type (
	wireRun struct {
		Path              string        `cbor:"1,keyasint,omitempty"`
		BuildID           string        `cbor:"2,keyasint,omitempty"`
		Backend           string        `cbor:"3,keyasint,omitempty"`
		WallNS            int64         `cbor:"4,keyasint,omitempty"`
		Cores             int           `cbor:"5,keyasint,omitempty"`
		ExitCode          int           `cbor:"6,keyasint,omitempty"`
		Signal            string        `cbor:"7,keyasint,omitempty"`
		Slowdown          float64       `cbor:"8,keyasint,omitempty"`
		Functions         int           `cbor:"9,keyasint,omitempty"`
		FunctionsTotal    int           `cbor:"10,keyasint,omitempty"`
		Instructions      int           `cbor:"11,keyasint,omitempty"`
		InstructionsTotal int           `cbor:"12,keyasint,omitempty"`
		Warnings          int           `cbor:"13,keyasint,omitempty"`
		Libraries         []wireLibrary `cbor:"14,keyasint,omitempty"`
		Uncounted         []string      `cbor:"15,keyasint,omitempty"`
		LibraryCalls      []Addr        `cbor:"16,keyasint,omitempty"`
		Virtual           int           `cbor:"17,keyasint,omitempty"`
		Machine           string        `cbor:"18,keyasint,omitempty"`
		Ranks             []wireRank    `cbor:"19,keyasint,omitempty"`
	}
	wireRank struct {
		Rank     int      `cbor:"1,keyasint,omitempty"`
		Size     int      `cbor:"2,keyasint,omitempty"`
		Host     string   `cbor:"3,keyasint,omitempty"`
		Job      string   `cbor:"4,keyasint,omitempty"`
		Launcher string   `cbor:"5,keyasint,omitempty"`
		Cores    int      `cbor:"8,keyasint,omitempty"`
		StartNS  int64    `cbor:"6,keyasint,omitempty"`
		Main     ThreadID `cbor:"7,keyasint,omitempty"`
	}
	wireLibrary struct {
		Path    string `cbor:"1,keyasint,omitempty"`
		BuildID string `cbor:"2,keyasint,omitempty"`
		Base    Addr   `cbor:"3,keyasint,omitempty"`
	}
	wireThread struct {
		ID         ThreadID `cbor:"1,keyasint,omitempty"`
		Start      Addr     `cbor:"2,keyasint,omitempty"`
		BeginNS    int64    `cbor:"3,keyasint,omitempty"`
		EndNS      int64    `cbor:"4,keyasint,omitempty"`
		CPUNS      int64    `cbor:"5,keyasint,omitempty"`
		Totals     []byte   `cbor:"6,keyasint,omitempty"`
		Open       []Addr   `cbor:"7,keyasint,omitempty"`
		Creator    ThreadID `cbor:"8,keyasint,omitempty"`
		Joiner     ThreadID `cbor:"9,keyasint,omitempty"`
		Joined     int64    `cbor:"10,keyasint,omitempty"`
		Created    int64    `cbor:"11,keyasint,omitempty"`
		CreatedCPU int64    `cbor:"12,keyasint,omitempty"`
		Join       int64    `cbor:"13,keyasint,omitempty"`
		JoinCPU    int64    `cbor:"14,keyasint,omitempty"`
		Work       uint64   `cbor:"15,keyasint,omitempty"`
		With       ThreadID `cbor:"16,keyasint,omitempty"`
	}
	wireSection struct {
		Kind      SectionKind `cbor:"1,keyasint,omitempty"`
		Site      Addr        `cbor:"2,keyasint,omitempty"`
		Instances int         `cbor:"3,keyasint,omitempty"`
		Totals    int         `cbor:"4,keyasint,omitempty"`
		Warnings  int         `cbor:"5,keyasint,omitempty"`
		TimeNS    int64       `cbor:"6,keyasint,omitempty"`
		Outside   int         `cbor:"7,keyasint,omitempty"`
		Callers   []Addr      `cbor:"8,keyasint,omitempty"`
		Units     []byte      `cbor:"9,keyasint,omitempty"`
	}
	wireInstance struct {
		Parts  int      `cbor:"1,keyasint,omitempty"`
		Folded int      `cbor:"2,keyasint,omitempty"`
		SpanNS int64    `cbor:"3,keyasint,omitempty"`
		Waiter ThreadID `cbor:"4,keyasint,omitempty"`
		Comm   string   `cbor:"5,keyasint,omitempty"`
		First  uint64   `cbor:"6,keyasint,omitempty"`
		Calls  int      `cbor:"7,keyasint,omitempty"`
	}
	wirePart struct {
		Thread ThreadID `cbor:"1,keyasint,omitempty"`
		Begin  Addr     `cbor:"2,keyasint,omitempty"`
		Site   Addr     `cbor:"3,keyasint,omitempty"`
		Counts []byte   `cbor:"4,keyasint,omitempty"`
		BusyNS int64    `cbor:"5,keyasint,omitempty"`
		WaitNS int64    `cbor:"6,keyasint,omitempty"`
		Timed  bool     `cbor:"7,keyasint,omitempty"`
		From   int64    `cbor:"8,keyasint,omitempty"`
		To     int64    `cbor:"9,keyasint,omitempty"`
		Slot   SlotID   `cbor:"10,keyasint,omitempty"`
		// Of totals: several threads had the slot.
		Waits     []byte `cbor:"12,keyasint,omitempty"`
		Several   bool   `cbor:"11,keyasint,omitempty"`
		Inner     []byte `cbor:"13,keyasint,omitempty"`
		InnerBusy int64  `cbor:"14,keyasint,omitempty"`
		Wakes     []byte `cbor:"15,keyasint,omitempty"`
		Syncs     []byte `cbor:"16,keyasint,omitempty"`
		Messages  []byte `cbor:"17,keyasint,omitempty"`
	}
	wireLocation struct {
		Address      Addr `cbor:"1,keyasint,omitempty"`
		Frames       int  `cbor:"2,keyasint,omitempty"`
		SymbolOffset Addr `cbor:"3,keyasint,omitempty"`
	}
)

// packCounts writes a sparse vector: how many, then for each the step from
// the event before (small, mostly 1) and the count, as varints.
func packCounts(c Counts) []byte {
	if len(c.Event) == 0 {
		return nil
	}
	b := binary.AppendUvarint(make([]byte, 0, 3*len(c.Event)), uint64(len(c.Event)))
	last := EventID(-1)
	for i, e := range c.Event {
		b = binary.AppendUvarint(b, uint64(e-last))
		b = binary.AppendUvarint(b, c.N[i])
		last = e
	}
	return b
}

var errCounts = errors.New("a vector of counts is garbled")

func (d *decoder) unpackCounts(b []byte) (Counts, error) {
	if len(b) == 0 {
		return Counts{}, nil
	}
	n, at := binary.Uvarint(b)
	// An entry takes two bytes at least.
	if at <= 0 || n == 0 || n > uint64(len(b)-at)/2 {
		return Counts{}, errCounts
	}
	if err := d.charge(int64(n) * 12); err != nil {
		return Counts{}, err
	}
	c := Counts{make([]EventID, n), make([]uint64, n)}
	last := int64(-1)
	for i := range c.Event {
		step, k := binary.Uvarint(b[at:])
		if k <= 0 || step == 0 || step > math.MaxInt32 || last+int64(step) > math.MaxInt32 {
			return Counts{}, errCounts
		}
		at += k
		last += int64(step)
		c.Event[i] = EventID(last)
		if c.N[i], k = binary.Uvarint(b[at:]); k <= 0 {
			return Counts{}, errCounts
		}
		at += k
	}
	if at != len(b) {
		return Counts{}, errCounts
	}
	return c, nil
}

// wire is an event as it is written.
func (e *Event) wire() wireEvent {
	return wireEvent{e.Kind, e.Block, e.Edge, e.Addr, e.Name, e.Superior, e.Reason, e.Cycles, e.Partner, e.Writer, e.Doubt, e.Writes, e.Called}
}

// event is one that was read.
func (w *wireEvent) event() Event {
	return Event{w.Kind, w.Writes, w.Called, w.Block, w.Edge, w.Superior, w.Addr, w.Name, w.Reason, w.Cycles, w.Writer, w.Partner, w.Doubt}
}
