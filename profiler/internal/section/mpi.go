package section

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Ranks of MPI meet in collective calls, and a profile is of one of them. So an
// instance has one part here, that of this rank, and says which call it was: the k-th
// on its communicator, which is the same one for all members.
//
//	MPI_Init ── work ── Allreduce ── work ── Recv ── work ── Barrier ── Finalize
//	           │ a part ┤           │ a part, with a wait ┤
//
// A communicator is known by how it came to be: the world, or the k-th call on another
// one that made it, and what told it apart from others that the same call made. Of one
// that is not known nothing is filed, and it is said.

// mpiRule makes sections of collective calls.
type mpiRule struct {
	t       *Tracker
	comms   map[uint64]*communicator // by handle, as the program's language has it
	ranks   map[*thread]*rankThread
	own     map[*thread]bool // threads of the implementation's own
	strange bool             // it called by communicators that are not known
	apart   bool             // or that are not told apart
	byTurns bool             // several threads call on one
	doubts  []profile.Warning
}

// communicator is one, or what stands for one.
type communicator struct {
	id    string // "": not told apart from others
	calls uint64
	alone bool    // this rank is its only member
	last  *thread // that called on it
}

// rankThread is a thread that calls MPI.
type rankThread struct {
	rankPart
	x       *thread
	depth   int // of calls of MPI: it calls itself
	at      uint64
	site    profile.Addr  // of the call that is under way
	comm    *communicator // of the call that is under way, nil: it is none that ranks meet in
	call    profile.MPICall
	arrived arrival
	anew    bool          // its part begins behind the call, and what was before is not known
	parent  *communicator // of what it is about to make,
	made    string        // and what that will be
	talk    talk
	promise map[uint64]talk // requests, by handle
}

// talk is a call that waits for one other rank.
type talk struct {
	on      bool
	site    profile.Addr
	partner int // from 1
	sends   bool
	keep    bool // it is a promise, which waits for nobody yet
	many    bool // it waits for all that was promised
	unknown bool // what it waits for
}

func mpi(t *Tracker) rule {
	m := &mpiRule{t: t, comms: map[uint64]*communicator{}, ranks: map[*thread]*rankThread{}, own: map[*thread]bool{}}
	if t != nil {
		t.mpi = m
	}
	r := rule{end: m.finish, born: m.born}
	for _, b := range []binding{inC, inFortran} {
		m.addMeetings(&r, b)
		m.addTalks(&r, b)
	}
	return r
}

func (m *mpiRule) addMeetings(r *rule, b binding) {
	add := func(name string, args record.Args, arrive, leave handler) {
		r.calls = append(r.calls, call{names: m.names(b, name), arrive: arrive, leave: leave, meets: true, args: args})
	}
	for _, c := range mpiMeetings {
		add(c.name, b.args(c.n, c.comm, 0, 0), m.meets, m.leaves)
	}
	for _, c := range mpiOnOthers {
		a := b.args(c.n, c.comm, 0, 0)
		if c.pointer && b == inC {
			a.Arg1.By = record.Pointer64
		}
		add(c.name, a, m.meets, m.leaves)
	}
	for _, c := range mpiMakers {
		add(c.name, b.args(c.n, c.comm, c.color, c.out), func(x *thread, r record.Record) { m.makes(x, r, c.apart) }, m.leaves)
	}
	for _, c := range mpiInit {
		r.calls = append(r.calls, call{names: m.names(b, c.name), arrive: m.begins, leave: m.begun, args: b.args(c.n, 0, 0, 0)})
	}
	for _, c := range mpiFinalize {
		add(c.name, b.args(c.n, 0, 0, 0), m.finalizes, m.leaves)
	}
	r.calls = append(r.calls, call{names: m.names(b, "Abort")}) // it does not come back
}

func (m *mpiRule) addTalks(r *rule, b binding) {
	add := func(list []mpiTalk, how talk) {
		for _, c := range list {
			a := b.args(c.n, c.comm, c.partner, 0)
			if how.keep {
				a = b.args(c.n, c.comm, c.partner, c.n)
			}
			r.calls = append(r.calls, call{names: m.names(b, c.name), arrive: func(x *thread, r record.Record) { m.talks(x, r, how) }, leave: m.leaves, brief: true, args: a})
		}
	}
	add(mpiReceives, talk{})
	add(mpiSends, talk{sends: true})
	add(mpiPromisedReceives, talk{keep: true})
	add(mpiPromisedSends, talk{keep: true, sends: true})
	add(mpiSome, talk{many: true})
	for _, c := range mpiWaits {
		a := b.args(c.n, c.partner, 0, 0)
		if b == inC {
			a.Arg1.By = record.Pointer64
		}
		r.calls = append(r.calls, call{names: m.names(b, c.name), arrive: m.waitsFor, leave: m.leaves, brief: true, args: a})
	}
}

// of is what is known of a thread that calls MPI.
func (m *mpiRule) of(x *thread) *rankThread {
	y := m.ranks[x]
	if y == nil {
		y = &rankThread{x: x, promise: map[uint64]talk{}}
		y.from(x, x.beginTSC)
		if x.parent != nil { // what it has done since its birth is of its first call
			y.acc, y.cpu = slices.Clip(x.acc), x.cpu
		}
		m.ranks[x] = y
	}
	return y
}

// born: threads that MPI creates for itself are nobody's to join; nor are those that these create.
func (m *mpiRule) born(x *thread) {
	if y := m.ranks[x.parent]; x.parent != nil && (y != nil && y.depth > 0 || m.own[x.parent]) {
		m.own[x] = true
		m.t.joins.adopted(x)
	}
}

// enters is of a call that the program makes, nil of one that MPI does in another.
func (m *mpiRule) enters(x *thread, r record.Record) *rankThread {
	y := m.of(x)
	y.depth++
	if y.depth > 1 {
		return nil
	}
	y.at, y.site, y.comm, y.made, y.talk = r.TSC, profile.Addr(r.Site), nil, "", talk{}
	return y
}

func (m *mpiRule) begins(x *thread, r record.Record) { m.enters(x, r) }

// begun: what was done before is of no section: ranks need not begin at once.
func (m *mpiRule) begun(x *thread, r record.Record) {
	if y := m.of(x); y.depth == 1 {
		y.from(x, r.TSC)
	}
	m.leaves(x, r)
}

// handle is a communicator's as it is told apart from others: MPICH's are numbers of
// 32 bits, as all are in Fortran; Open MPI's are pointers.
func (m *mpiRule) handle(h uint64) uint64 {
	if m.t.c.MPI.Numbers {
		h = uint64(uint32(h))
	}
	return h
}

// find is the communicator of a handle, nil where it is not known.
func (m *mpiRule) find(h uint64) *communicator {
	h = m.handle(h)
	if c := m.comms[h]; c != nil {
		return c
	}
	id := ""
	switch k := &m.t.c.MPI; {
	case h == k.World, h == k.FortranWorld:
		id, h = "world", k.World
	case h == k.Self, h == k.FortranSelf:
		return &communicator{id: "self", alone: true}
	default:
		m.strange = true
		return nil
	}
	c := m.comms[h]
	if c == nil {
		c = &communicator{id: id}
	}
	m.comms[h], m.comms[m.t.c.MPI.FortranWorld] = c, c
	return c
}

// meets: a rank comes to a collective call.
func (m *mpiRule) meets(x *thread, r record.Record) {
	if y := m.enters(x, r); y != nil {
		m.meet(y, m.find(r.Arg1), r)
	}
}

func (m *mpiRule) meet(y *rankThread, c *communicator, r record.Record) {
	if c == nil || c.alone {
		return
	}
	if c.id == "" {
		m.apart = true
		return
	}
	// What a thread did since it last called says nothing where another one has called since.
	if c.last == nil || c.last == y.x {
		y.comm, y.call = c, profile.MPICall{Comm: c.id, First: c.calls, N: 1}
	} else {
		m.byTurns = true
		y.anew = true
	}
	c.last = y.x
	c.calls++
	y.arrived = y.arrives(r)
}

// finalizes: all ranks come here last.
func (m *mpiRule) finalizes(x *thread, r record.Record) {
	if y := m.enters(x, r); y != nil {
		m.meet(y, m.find(m.t.c.MPI.World), r)
	}
}

// makes: a collective call makes another communicator.
func (m *mpiRule) makes(x *thread, r record.Record, how apart) {
	y := m.enters(x, r)
	if y == nil {
		return
	}
	c := m.find(r.Arg1)
	if c == nil {
		return
	}
	if y.parent = c; c.id != "" {
		y.made = c.id + "/" + strconv.FormatUint(c.calls, 10)
		switch how {
		case byColor:
			y.made += ":" + strconv.Itoa(int(int32(uint32(r.Arg3))))
		case byNode:
			y.made += "@" + m.t.c.MPI.Host
		}
	}
	if c.id == "" || how == unknownApart || how == byNode && uint32(r.Arg3) != m.t.c.MPI.Shared {
		y.made = "?"
	}
	m.meet(y, c, r)
}

// leaves: the call is over.
func (m *mpiRule) leaves(x *thread, r record.Record) {
	y := m.of(x)
	if y.depth--; y.depth > 0 {
		return
	}
	y.depth = 0
	if y.made != "" {
		c := &communicator{id: y.made, alone: y.parent.alone}
		if c.id == "?" {
			c.id = ""
		}
		m.comms[m.handle(r.Arg1)] = c
	}
	if y.comm != nil {
		m.t.meetRanks(y, r.TSC, true)
		y.from(x, r.TSC)
		y.begin = y.arrived.site
		return
	}
	if y.anew {
		y.anew = false
		y.from(x, r.TSC)
		return
	}
	y.spoke(r, m.t.c.NSPerTick)
}

// talks: a rank comes to a call in which it may wait for another one.
func (m *mpiRule) talks(x *thread, r record.Record, how talk) {
	y := m.enters(x, r)
	if y == nil {
		return
	}
	how.on, how.site = true, profile.Addr(r.Site)
	if how.many {
		how.partner, how.sends, how.unknown = onlyOne(y.promised())
		clear(y.promise)
	} else if c := m.comms[m.worldly(r.Arg1)]; c != nil && c.id == "world" && int32(uint32(r.Arg3)) >= 0 { // of others it is not known who their ranks are
		how.partner = 1 + int(int32(uint32(r.Arg3)))
	}
	y.talk = how
}

// worldly makes the world known, where a handle is of it.
func (m *mpiRule) worldly(h uint64) uint64 {
	if h = m.handle(h); h == m.t.c.MPI.World || h == m.t.c.MPI.FortranWorld {
		m.find(h)
	}
	return h
}

// waitsFor: it waits for what was promised.
func (m *mpiRule) waitsFor(x *thread, r record.Record) {
	y := m.enters(x, r)
	if y == nil {
		return
	}
	h := m.handle(r.Arg1)
	how, known := y.promise[h]
	delete(y.promise, h)
	y.talk = talk{on: true, site: profile.Addr(r.Site), partner: how.partner, sends: how.sends, unknown: !known}
}

// finish says what is not known, and files where the program ended in a call.
func (m *mpiRule) finish() {
	for _, id := range slices.Sorted(maps.Keys(m.t.threads)) {
		if y := m.ranks[m.t.threads[id]]; y != nil && y.depth > 0 && y.comm != nil {
			m.t.meetRanks(y, 0, false)
		}
	}
	if m.strange {
		m.doubts = append(m.doubts, profile.Warning{Code: "mpi-communicators",
			Message: "the program called by communicators whose making was not seen: what ranks did up to there is taken for work up to the next call that is known"})
	}
	if m.byTurns {
		m.doubts = append(m.doubts, profile.Warning{Code: "mpi-threads",
			Message: "threads of a rank take turns to call on one communicator: calls by another thread than the one before are not compared"})
	}
	if m.apart {
		m.doubts = append(m.doubts, profile.Warning{Code: "mpi-communicators", Message: fmt.Sprintf(
			"calls on communicators that %s make are not compared: which ranks are in which is not known", "MPI_Comm_create, MPI_Cart_sub and MPI_Comm_split_type (but by node)")})
	}
}
