package cachesim

// directory knows of every line that was ever touched who has it. Lines are never
// taken out: that a core touched one is what makes its next miss not cold.
type directory struct {
	pages map[uint64]*page // by line / pageLines
	last  uint64           // the page that was asked for last, from 1; 0: none
	page  *page
	all   []*[someEntries]entry
	n     int32 // entries in use
}

const (
	pageLines   = 64
	someEntries = 1024 // are made at once: they never move
)

// page has the numbers of entries of lines that lie together, from 1; 0: none.
type page [pageLines]int32

// entry is that of a number.
func (d *directory) entry(id int32) *entry { return &d.all[id/someEntries][id%someEntries] }

// entry of a line.
type entry struct {
	holders cores   // whose copies are valid
	touched cores   // that ever had it, since their last Reset
	record  *record // nil, or empty: nobody has an invalid copy
}

// id of a line, which is entered if it is new.
func (d *directory) id(line uint64) int32 {
	if k := line/pageLines + 1; k != d.last {
		p := d.pages[k]
		if p == nil {
			p = &page{}
			d.pages[k] = p
		}
		d.last, d.page = k, p
	}
	id := &d.page[line%pageLines]
	if *id == 0 {
		if d.n%someEntries == 0 {
			d.all = append(d.all, &[someEntries]entry{})
		}
		d.n++
		*id = d.n
	}
	return *id - 1
}

// recorded says whether a write to the line has to be written down. Most are to
// lines that nobody shares.
func (e *entry) recorded() bool { return e.record != nil && e.record.n > 0 }

// wrote writes it down, and who lost the line by it.
func (e *entry) wrote(a *access, losers cores) {
	if losers.empty() && !e.recorded() {
		return
	}
	if e.record == nil {
		e.record = &record{}
	}
	e.record.write(a.core, a.op, a.span.bytes(), losers)
}

// maxEpochs of a line are kept.
const maxEpochs = 4

// bytes are some of a line's.
type bytes [maxLine / 64]uint64

// span is the bytes [from, to) of a line that an access touches.
type span struct{ from, to int }

// bytes are made only where they are needed: most accesses need none.
func (s span) bytes() (b bytes) {
	for i := range b {
		from, to := max(s.from-64*i, 0), min(s.to-64*i, 64)
		if from < to {
			b[i] = ^uint64(0) >> (64 - (to - from)) << from
		}
	}
	return b
}

func (b *bytes) add(x bytes) {
	for i := range b {
		b[i] |= x[i]
	}
}

func (b *bytes) meets(x bytes) bool {
	both := uint64(0)
	for i := range b {
		both |= b[i] & x[i]
	}
	return both != 0
}

// epoch of a line begins when a write takes it away from others, or when another
// core begins to write.
type epoch struct {
	writer  int16
	op      uint32 // the last write's
	written bytes
	losers  cores // it took the line from them, and they have not been back
}

// record is what was written to a line since the first of those lost it who have
// their invalid copies still; empty if there is nobody. Who comes back missed by
// true sharing if one of the bytes that it accesses was written meanwhile.
//
// When there are too many epochs the two oldest become one. Who lost the line in
// the second of these then seems to have missed what was written in the first, too:
// it may be told true for false.
type record struct {
	n      int
	epochs [maxEpochs]epoch
}

// begin adds an epoch.
func (r *record) begin(e epoch) {
	if r.n == maxEpochs {
		e0, e1 := &r.epochs[0], &r.epochs[1]
		e1.written.add(e0.written)
		e1.losers.addAll(&e0.losers)
		copy(r.epochs[:], r.epochs[1:])
		r.n--
	}
	r.epochs[r.n] = e
	r.n++
}

// write says that a core wrote, and took the line from losers. Where nobody has an
// old copy, nobody will ask.
func (r *record) write(core int, op uint32, written bytes, losers cores) {
	if !losers.empty() || r.n > 0 && int(r.epochs[r.n-1].writer) != core {
		r.begin(epoch{int16(core), op, written, losers})
	} else if r.n > 0 {
		e := &r.epochs[r.n-1]
		e.op = op
		e.written.add(written)
	}
}

// leave says that a core has no invalid copy any more.
func (r *record) leave(core int) {
	var left cores
	for i := range r.n {
		r.epochs[i].losers.remove(core)
		left.addAll(&r.epochs[i].losers)
	}
	if left.empty() {
		r.n = 0
	}
}

// back says why a core misses that comes back for some bytes, and who wrote: any
// of the bytes last, else any at all.
func (r *record) back(core int, wanted bytes) (Kind, Partner) {
	kind, by := False, &r.epochs[r.n-1]
	for i := r.n - 1; i >= 0; i-- {
		e := &r.epochs[i]
		if e.written.meets(wanted) {
			kind, by = True, e
			break
		}
		if e.losers.has(core) {
			break
		}
	}
	return kind, Partner{Op: by.op, Core: int(by.writer)}
}
