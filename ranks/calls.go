package ranks

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// callKey is what tells collective calls apart. Calls that ranks have added up
// (profile.MPICall.N) are of one section each.
type callKey struct {
	comm    int32
	section int32 // −1: one call, whatever section ranks have it in
	first   uint64
}

// come is a rank that came to a call.
type come struct {
	member  int32
	section int32
	n       int32
	rank    int32 // by its work, of all that came
	work    uint64
	bytes   int64
}

// call is a collective call of all ranks that came.
type call struct {
	key     callKey
	come    []come // by rank
	section int32
	endNS   int64 // when the first rank has come, since 1970
	lost    uint64
	kept    *profile.Instance // nil: it is added up
	mixed   bool              // not all added up as many
	least   int64             // of the times that ranks spent in it: what it took the last to come
}

// comes notes what a rank did before its collective calls.
func (s *survey) comes(m int, p *profile.Profile, section int32, in *profile.Instance) {
	q := &in.Parts[0]
	comm, has := s.comms[in.Call.Comm]
	if !has {
		comm = int32(len(s.comms))
		s.comms[in.Call.Comm] = comm
	}
	k := callKey{comm, -1, in.Call.First}
	if in.Call.First >= single {
		k.section = section
	}
	c := s.calls[k]
	if c == nil {
		c = &call{key: k}
		s.calls[k] = c
	}
	if end := s.members[m].rank.StartNS + q.ArriveNS; q.ArriveNS > 0 && (c.endNS == 0 || end < c.endNS) {
		c.endNS = end
	}
	if q.Timed && (len(c.come) == 0 || q.WaitNS < c.least) {
		c.least = q.WaitNS
	}
	if n := len(c.come); n > 0 && c.come[n-1].member == int32(m) {
		return // it says so twice
	}
	c.mixed = c.mixed || len(c.come) > 0 && c.come[0].n != int32(in.Call.N)
	c.come = append(c.come, come{member: int32(m), section: section, n: int32(in.Call.N), work: p.ModelCycles(q.Counts) + p.ModelCycles(q.Inner), bytes: partBytes(q)})
}

// single is the number of the first call that ranks may have added to others.
const single = 1024

// partBytes is about what a part takes.
func partBytes(q *profile.Part) int64 {
	return 360 + 12*int64(len(q.Counts.Event)+len(q.Inner.Event)) + 40*int64(len(q.Waits)+len(q.Wakes)+len(q.Messages))
}

// settle finds out of each call which section it is of, and what was lost there; those
// that only one rank came to are none.
func (s *survey) settle() (list []*call) {
	for _, c := range s.calls {
		if len(c.come) > 1 && !c.mixed {
			c.settle()
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *call) int {
		return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(a.key.first, b.key.first), cmp.Compare(a.key.comm, b.key.comm), cmp.Compare(a.section, b.section))
	})
	return list
}

func (c *call) settle() {
	n, most := map[int32]int{}, uint64(0)
	for _, x := range c.come {
		n[x.section]++
		most = max(most, x.work)
	}
	c.section = c.come[0].section
	for k, have := range n {
		if have > n[c.section] || have == n[c.section] && k < c.section {
			c.section = k
		}
	}
	order := make([]int, len(c.come))
	for i := range order {
		order[i] = i
		c.lost += most - c.come[i].work
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.come[a].work, c.come[b].work) })
	for r, i := range order {
		c.come[i].rank = int32(r)
	}
}

func (c *call) bytes() (n int64) {
	for _, x := range c.come {
		n += x.bytes
	}
	return n
}

// of is what is noted of a rank, nil where it did not come.
func (c *call) of(member int) *come {
	i, has := slices.BinarySearchFunc(c.come, int32(member), func(x come, m int32) int { return cmp.Compare(x.member, m) })
	if !has {
		return nil
	}
	return &c.come[i]
}

// spare is how many calls of a section are kept one by one at most: as many as are
// analysed one by one (rule 13).
const spare = 128

// keep decides which calls are kept one by one: those that lost most, as far as there
// is room. A call of so many ranks as no other one that is added up is kept too.
func (s *survey) keep(list []*call, room int64) {
	kept := map[int32]int{}
	type width struct{ section, parts int32 }
	folded := map[width][]*call{}
	for _, c := range list {
		if n := c.bytes(); kept[c.section] < spare && n <= room {
			room -= n
			kept[c.section]++
			c.kept = c.instance()
			continue
		}
		w := width{c.section, int32(len(c.come))}
		folded[w] = append(folded[w], c)
	}
	for _, l := range folded {
		if len(l) == 1 {
			l[0].kept = l[0].instance()
		}
	}
}

func (c *call) instance() *profile.Instance {
	return &profile.Instance{Folded: 1, Parts: make([]profile.Part, 0, len(c.come))}
}
