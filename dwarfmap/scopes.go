package dwarfmap

import (
	"container/heap"
	"debug/dwarf"
	"errors"
	"math"
	"sort"
	"sync/atomic"
)

// tables are what is parsed of one unit.
type tables struct {
	files     []string // paths; the first is none
	rows      []row
	sequences []sequence // sorted by lo
	callFiles []int32    // DW_AT_call_file → files

	data     *dwarf.Data // of the scopes
	lists    *rangeLists // of a split unit
	kept     int64       // bytes of what is this unit's alone
	scopes   []scope
	names    []atomic.Pointer[string] // of scopes, readable; nil: not asked for yet
	outlined []atomic.Bool            // those of which the compiler made a function, once their names are known
	segments []segment                // sorted by lo, without overlap
}

// scope is a function, or a call of one that was inlined.
type scope struct {
	die      dwarf.Offset
	parent   int32 // the scope that holds it; −1: none
	depth    int32
	inlined  bool
	callFile int32
	callLine int32

	// callColumn is 0 where unknown.
	callColumn int32
}

// segment is code whose innermost scope is the same, up to the next segment.
type segment struct {
	lo    uint64
	scope int32 // −1: none
}

// maxRanges bounds what one unit's functions may cover in pieces: many DIEs
// that name one long range list would take quadratic memory.
const maxRanges = 8 << 20

type piece struct {
	span
	scope, depth int32
}

// readScopes walks the DIEs of a unit for functions and inlined calls.
func (m *Map) readScopes(u *unit, t *tables) error {
	at := u.entry
	if t.data = m.data; u.split {
		if at = m.readSplit(u, t); at == nil {
			return nil
		}
	}
	var pieces []piece
	defer func() {
		t.segments = flatten(pieces)
		t.names, t.outlined = make([]atomic.Pointer[string], len(t.scopes)), make([]atomic.Bool, len(t.scopes))
	}()
	r := t.data.Reader()
	r.Seek(at.Offset)
	if _, err := r.Next(); err != nil || !at.Children {
		return err
	}
	stack := []int32{-1} // the scope that holds the entries of each open level
	for len(stack) > 0 {
		e, err := r.Next()
		if err != nil || e == nil {
			return err
		}
		if e.Tag == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		in := stack[len(stack)-1]
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			var err error
			if in, pieces, err = m.addPieces(t, pieces, e, in); err != nil {
				return err
			}
		case dwarf.TagEnumerationType, dwarf.TagArrayType, dwarf.TagSubroutineType:
			r.SkipChildren()
			continue
		}
		if e.Children {
			stack = append(stack, in)
		}
	}
	return nil
}

// addPieces adds the code of a function or inlined call, and its scope if it
// has code; scope is what then holds what is in it.
func (m *Map) addPieces(t *tables, pieces []piece, e *dwarf.Entry, parent int32) (scope int32, all []piece, err error) {
	ranges, err := t.rangesOf(e)
	if err != nil {
		return parent, pieces, err
	}
	n := len(pieces)
	for _, g := range ranges {
		if g[0] < g[1] && m.isCode(g[0]) {
			pieces = append(pieces, piece{span{g[0], g[1]}, int32(len(t.scopes)), 0})
		}
	}
	if len(pieces) > maxRanges || len(t.scopes) == math.MaxInt32 {
		return parent, pieces, errors.New("a unit has too many ranges")
	}
	if len(pieces) == n {
		return parent, pieces, nil
	}
	scope = t.addScope(e, parent)
	for i := range pieces[n:] {
		pieces[n+i].depth = t.scopes[scope].depth
	}
	return scope, pieces, nil
}

func (t *tables) addScope(e *dwarf.Entry, parent int32) int32 {
	s := scope{die: e.Offset, parent: parent, inlined: e.Tag == dwarf.TagInlinedSubroutine}
	if parent >= 0 {
		s.depth = t.scopes[parent].depth + 1
	}
	if s.inlined {
		number := func(a dwarf.Attr) int32 {
			n, _ := e.Val(a).(int64)
			if n < 0 || n > math.MaxInt32 {
				return 0
			}
			return int32(n)
		}
		s.callFile, s.callLine, s.callColumn = number(dwarf.AttrCallFile), number(dwarf.AttrCallLine), number(dwarf.AttrCallColumn)
	}
	t.scopes = append(t.scopes, s)
	return int32(len(t.scopes) - 1)
}

// flatten cuts nested, sometimes overlapping ranges into segments of the
// deepest scope.
func flatten(pieces []piece) []segment {
	sort.SliceStable(pieces, func(i, j int) bool { return pieces[i].lo < pieces[j].lo })
	var out []segment
	open := &deepest{}
	emit := func(at uint64) {
		s := int32(-1)
		if len(*open) > 0 {
			s = (*open)[0].scope
		}
		switch n := len(out); {
		case n > 0 && out[n-1].lo == at:
			out[n-1].scope = s
		case n > 0 && out[n-1].scope == s:
		default:
			out = append(out, segment{at, s})
		}
	}
	// closeTo ends the ranges that end up to an address.
	closeTo := func(limit uint64) {
		for len(*open) > 0 && (*open)[0].hi <= limit {
			at := (*open)[0].hi
			for len(*open) > 0 && (*open)[0].hi <= at {
				heap.Pop(open)
			}
			emit(at)
		}
	}
	for i := range pieces {
		closeTo(pieces[i].lo)
		heap.Push(open, pieces[i])
		emit(pieces[i].lo)
	}
	closeTo(math.MaxUint64)
	return out
}

// deepest is a heap with the deepest piece on top, of equals the later one.
type deepest []piece

func (h deepest) Len() int { return len(h) }
func (h deepest) Less(i, j int) bool {
	if h[i].depth != h[j].depth {
		return h[i].depth > h[j].depth
	}
	return h[i].scope > h[j].scope
}
func (h deepest) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *deepest) Push(x any)   { *h = append(*h, x.(piece)) }
func (h *deepest) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// scopeAt is the innermost scope of an address; −1: none.
func (t *tables) scopeAt(a uint64) int32 {
	i := sort.Search(len(t.segments), func(i int) bool { return t.segments[i].lo > a }) - 1
	if i < 0 {
		return -1
	}
	return t.segments[i].scope
}

// rootAt is the outermost function of an address; −1: none.
func (t *tables) rootAt(a uint64) int32 {
	s := t.scopeAt(a)
	for s >= 0 && t.scopes[s].parent >= 0 {
		s = t.scopes[s].parent
	}
	return s
}
