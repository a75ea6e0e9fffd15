// Package places keeps where addresses stand in the source, for the next run.
//
//	address, asked for how ─▶ Find ─▶ a location of an earlier run
//	                           └ none: dwarfmap reads the debug information, Add
//	all of them ─▶ Pack: keys, sorted, of one size ─┐
//	                     locations, each once ◀─────┘ at ─▶ numbers of strings
//
// A program runs mostly what it ran before, and a report names the addresses of the
// last one. To read debug information for them takes a hundred times as long as to look
// them up: Go's is compressed, C++'s and Rust's are larger than the program.
//
// A Table reads where its bytes lie, and only what it is asked for. Bytes that say
// nonsense are those of no location.
package places

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// Key is an address of a file, and as what it was asked for.
type Key struct {
	Addr profile.Addr
	As   uint32
}

// Table are the locations of one file's addresses. Its methods may be called from several
// goroutines.
type Table struct {
	keys      []byte // of keySize each: address, As, where its location lies
	locations []byte
	strings   [][]byte

	mu    sync.Mutex
	last  int      // where Find looked last
	made  []string // of strings, those that were asked for
	added []added
	fresh map[Key]int32 // of them
}

type added struct {
	Key
	is profile.Location
}

const (
	keySize = 16
	enough  = 64 // locations are worth a file
)

// New reads what Pack has written; nothing if that cannot be read. It points into b.
func New(b []byte) *Table {
	r := &pack.Reader{B: b}
	t := &Table{strings: make([][]byte, r.Len(1)), fresh: map[Key]int32{}}
	for i := range t.strings {
		t.strings[i] = r.Bytes()
	}
	t.locations, t.keys = r.Bytes(), r.Bytes()
	if r.Err != nil || len(r.B) > 0 || len(t.keys)%keySize != 0 {
		return &Table{fresh: t.fresh}
	}
	t.made = make([]string, len(t.strings))
	return t
}

// Find returns a location, with the address 0; ok is false where none is known.
func (t *Table) Find(k Key) (l profile.Location, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seek(k) {
		if l, ok = t.location(t.at(t.last)); ok {
			return l, ok
		}
	}
	i, ok := t.fresh[k]
	if ok {
		l = t.added[i].is
	}
	return l, ok
}

// Has reports whether there is a location, which to read takes longer.
func (t *Table) Has(k Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, fresh := t.fresh[k]
	return fresh || t.seek(k)
}

// seek makes last the key's place among those that were read, and reports whether it is there.
func (t *Table) seek(k Key) bool {
	t.last = profile.SearchNear(t.len(), t.last, func(i int) bool { return compare(t.key(i), k) >= 0 })
	return t.last < t.len() && t.key(t.last) == k
}

// Add adds a location that Find did not find.
func (t *Table) Add(k Key, l profile.Location) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.Address = 0
	if i, is := t.fresh[k]; is {
		t.added[i].is = l
		return
	}
	t.fresh[k] = int32(len(t.added))
	t.added = append(t.added, added{k, l})
}

// Grown reports whether so much is new that it should be written: anything, if there is
// a file. To find one address that is not there takes longer than to write all.
func (t *Table) Grown() bool {
	return len(t.added) > 0 && t.len()+len(t.added) >= enough
}

func (t *Table) len() int { return len(t.keys) / keySize }

func (t *Table) key(i int) Key {
	b := t.keys[keySize*i:]
	return Key{profile.Addr(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint32(b[8:])}
}

func (t *Table) at(i int) uint32 { return binary.LittleEndian.Uint32(t.keys[keySize*i+12:]) }

func compare(a, b Key) int {
	if a.Addr != b.Addr { // as mostly
		return cmp.Compare(a.Addr, b.Addr)
	}
	return cmp.Compare(a.As, b.As)
}

// location reads one.
func (t *Table) location(at uint32) (l profile.Location, ok bool) {
	if uint64(at) > uint64(len(t.locations)) {
		return l, false
	}
	r := &pack.Reader{B: t.locations[at:]}
	l.Frame = t.frame(r)
	l.SymbolOffset = profile.Addr(r.Uint())
	if n := r.Len(4); n > 0 {
		l.InlinedAt = make([]profile.Frame, n)
		for i := range l.InlinedAt {
			l.InlinedAt[i] = t.frame(r)
		}
	}
	if r.Err != nil {
		return profile.Location{}, false
	}
	return l, true
}

func (t *Table) frame(r *pack.Reader) profile.Frame {
	return profile.Frame{File: t.text(r), Function: t.text(r), Line: int(int64(r.Uint())), Column: int(int64(r.Uint()))}
}

// text is a string, made once; number 0 is "".
func (t *Table) text(r *pack.Reader) string {
	n := r.Uint()
	if n == 0 {
		return ""
	}
	if n > uint64(len(t.strings)) {
		r.B, r.Err = nil, pack.ErrShort
		return ""
	}
	s := &t.made[n-1]
	if *s == "" {
		*s = string(t.strings[n-1])
	}
	return *s
}

// Pack writes all, the new ones instead of old ones of the same key: what was read stays
// as it is, what is new comes behind it.
func (t *Table) Pack(w *pack.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := packer{strings: slices.Clone(t.strings), numbers: map[string]uint64{}, locations: slices.Clone(t.locations), at: map[string]uint32{}}
	for i, s := range p.strings {
		p.numbers[string(s)] = uint64(i) + 1
	}
	keys, old := make([]byte, 0, len(t.keys)+keySize*len(t.added)), 0
	for _, x := range t.order() {
		k, from := x.Key, old
		for old < t.len() && compare(t.key(old), k) < 0 {
			old++
		}
		keys = append(keys, t.keys[keySize*from:keySize*old]...)
		if old < t.len() && t.key(old) == k {
			old++
		}
		keys = binary.LittleEndian.AppendUint64(keys, uint64(k.Addr))
		keys = binary.LittleEndian.AppendUint32(keys, k.As)
		keys = binary.LittleEndian.AppendUint32(keys, p.location(&t.added[x.i].is))
	}
	keys = append(keys, t.keys[keySize*old:]...)
	w.Uint(uint64(len(p.strings)))
	for _, s := range p.strings {
		w.Bytes(s)
	}
	w.Bytes(p.locations)
	w.Bytes(keys)
}

// place is where a key's location is among those that were added.
type place struct {
	Key
	i int32
}

// order are the keys that were added, sorted.
func (t *Table) order() []place {
	list := make([]place, len(t.added))
	for i := range t.added {
		list[i] = place{t.added[i].Key, int32(i)}
	}
	slices.SortFunc(list, func(a, b place) int { return compare(a.Key, b.Key) })
	return list
}

// packer numbers strings and finds locations that are the same.
type packer struct {
	strings   [][]byte
	numbers   map[string]uint64
	locations []byte
	at        map[string]uint32
	one       pack.Writer // a location, as it may be there already
}

// location is where one lies.
func (p *packer) location(l *profile.Location) uint32 {
	w := &p.one
	w.B = w.B[:0]
	p.frame(w, &l.Frame)
	w.Uint(uint64(l.SymbolOffset))
	w.Uint(uint64(len(l.InlinedAt)))
	for i := range l.InlinedAt {
		p.frame(w, &l.InlinedAt[i])
	}
	at, is := p.at[string(w.B)]
	if !is {
		at = uint32(len(p.locations))
		p.at[string(w.B)] = at
		p.locations = append(p.locations, w.B...)
	}
	return at
}

func (p *packer) frame(w *pack.Writer, f *profile.Frame) {
	p.text(w, f.File)
	p.text(w, f.Function)
	w.Uint(uint64(f.Line))
	w.Uint(uint64(f.Column))
}

func (p *packer) text(w *pack.Writer, s string) {
	n := p.numbers[s]
	if n == 0 && s != "" {
		p.strings = append(p.strings, []byte(s))
		n = uint64(len(p.strings))
		p.numbers[s] = n
	}
	w.Uint(n)
}
