package ranks

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// inner is an instance of a section within a rank: its threads have met, or were
// waited for. Those of different ranks have nothing to do with each other, but they
// are of one section, on one line.
type inner struct {
	member, section, at int32
	folded              int32
	parts               int32
	kept                bool
	lost                uint64
	bytes               int64
}

func (s *survey) noteInner(m int, p *profile.Profile, section int32, at int, in *profile.Instance) {
	x := inner{member: int32(m), section: section, at: int32(at), folded: int32(in.Folded), parts: int32(len(in.Parts)), lost: p.Load(in).Idle()}
	for k := range in.Parts {
		x.bytes += partBytes(&in.Parts[k])
	}
	s.inner = append(s.inner, x)
}

// keepInner decides which of them are kept one by one, as keep does.
func (s *survey) keepInner(room int64) {
	order := make([]int, len(s.inner))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.inner[b].lost, s.inner[a].lost) })
	kept := map[int32]int{}
	type width struct{ section, parts int32 }
	folded := map[width][]int{}
	for _, i := range order {
		x := &s.inner[i]
		if x.folded <= 1 && kept[x.section] < spare && x.bytes <= room {
			room -= x.bytes
			kept[x.section]++
			x.kept = true
			continue
		}
		w := width{x.section, x.parts}
		folded[w] = append(folded[w], i)
	}
	for _, l := range folded {
		if x := &s.inner[l[0]]; len(l) == 1 && x.folded <= 1 {
			x.kept = true
		}
	}
	slices.SortFunc(s.inner, inner.compare)
}

func (x inner) compare(y inner) int {
	return cmp.Or(cmp.Compare(x.member, y.member), cmp.Compare(x.section, y.section), cmp.Compare(x.at, y.at))
}

// keeps tells whether an instance of a rank's section is kept.
func (s *survey) keeps(m int, section int32, at int) bool {
	i, has := slices.BinarySearchFunc(s.inner, inner{member: int32(m), section: section, at: int32(at)}, inner.compare)
	return has && s.inner[i].kept
}
