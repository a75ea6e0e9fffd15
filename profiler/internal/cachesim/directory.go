package cachesim

// directory knows of every line that was ever touched who has it. Lines are never
// taken out: that a core touched one is what makes its next miss not cold.
type directory struct {
	at  map[uint64]int32 // by line, an index of all
	all []entry
}

// entry of a line. Sets of cores are words: bit n is core n.
type entry struct {
	holders uint64  // cores whose copies are valid
	touched uint64  // cores that ever had it, since their last Reset
	record  *record // nil, or empty: nobody has an invalid copy
}

// id of a line, which is entered if it is new.
func (d *directory) id(line uint64) int32 {
	id, ok := d.at[line]
	if !ok {
		id = int32(len(d.all))
		d.at[line] = id
		d.all = append(d.all, entry{})
	}
	return id
}

// recorded says whether a write to the line has to be written down. Most are to
// lines that nobody shares.
func (e *entry) recorded() bool { return e.record != nil && e.record.n > 0 }

// wrote writes it down, and who lost the line by it.
func (e *entry) wrote(a *access, losers uint64) {
	if losers == 0 && !e.recorded() {
		return
	}
	if e.record == nil {
		e.record = &record{}
	}
	e.record.write(a.core, a.op, a.span.bytes(), losers)
}
