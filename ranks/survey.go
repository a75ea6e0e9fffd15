package ranks

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// member is a rank of which there is a profile.
type member struct {
	source  Source
	rank    profile.Rank
	program profile.Program
	run     profile.Run

	// As the first reading leaves it:
	coverage profile.Coverage
	warnings []profile.Warning
	threads  profile.ThreadID // one more than the last of its ids
	base     profile.ThreadID // of its threads among those of all
	hash     uint64           // of its graph
	failed   bool             // it could not be read
}

// endNS is when it ended, since 1970.
func (m *member) endNS() int64 { return m.rank.StartNS + m.run.WallNS }

// choose reads the heads of all files, and takes one of each rank: of the run that
// began last, and of the program that most ranks ran.
func choose(list []Source) (members []*member, doubts []profile.Warning) {
	doubt := func(code, format string, args ...any) {
		doubts = append(doubts, profile.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	for _, s := range list {
		p, err := s.Head()
		switch {
		case err != nil:
			doubt("damaged-rank", "%v: it is left out", err)
		case len(p.Ranks) != 1:
			doubt("no-rank", "%s is not the profile of one rank, and is left out", s.Name)
		default:
			members = append(members, &member{source: s, rank: p.Ranks[0], program: p.Program, run: p.Run})
		}
	}
	slices.SortStableFunc(members, func(a, b *member) int {
		return cmp.Or(cmp.Compare(a.rank.Rank, b.rank.Rank), cmp.Compare(b.rank.StartNS, a.rank.StartNS))
	})
	members, others := lastRun(members)
	if len(others) > 0 {
		doubt("other-runs", "there are %s of other runs in the same place, which are left out", plural(len(others), "profile"))
	}
	return sameProgram(members, append(doubts, missing(members)...))
}

// lastRun are the ranks of the run that began last, and the files of others. Where
// launchers do not name their runs, of a rank's files the youngest is taken.
func lastRun(all []*member) (kept, others []*member) {
	var last *member
	for _, m := range all {
		if last == nil || m.rank.StartNS > last.rank.StartNS {
			last = m
		}
	}
	seen := map[int]bool{}
	for _, m := range all {
		if seen[m.rank.Rank] || m.rank.Job != last.rank.Job || m.rank.Size != last.rank.Size {
			others = append(others, m)
			continue
		}
		seen[m.rank.Rank] = true
		kept = append(kept, m)
	}
	return kept, others
}

// sameProgram are the ranks of the program that most of them ran: what others did is
// not compared with it.
func sameProgram(all []*member, doubts []profile.Warning) ([]*member, []profile.Warning) {
	ran := map[string][]*member{}
	var names []string
	for _, m := range all {
		k := code(m)
		if ran[k] == nil {
			names = append(names, k)
		}
		ran[k] = append(ran[k], m)
	}
	if len(names) < 2 {
		return all, doubts
	}
	most := slices.MaxFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(ran[a]), len(ran[b])), cmp.Compare(ran[b][0].rank.Rank, ran[a][0].rank.Rank))
	})
	var out []int
	var program string
	for _, m := range all {
		if code(m) != most {
			out = append(out, m.rank.Rank)
			program = filepath.Base(m.program.Path)
		}
	}
	what := "another build of the program, or of its libraries"
	if program != filepath.Base(ran[most][0].program.Path) {
		what = "another program, " + program
	}
	return ran[most], append(doubts, profile.Warning{Code: "other-code", Message: fmt.Sprintf("%s ran %s, and %s left out: only what runs the same code can be compared", Listed(out), what, isAre(len(out)))})
}

// code tells programs apart, with the libraries that were counted.
func code(m *member) string {
	var b strings.Builder
	id := func(path, build string) {
		fmt.Fprintf(&b, "%s\n", cmp.Or(build, path))
	}
	id(m.program.Path, m.program.BuildID)
	for _, l := range m.program.Libraries {
		id(l.Path, l.BuildID)
	}
	return b.String()
}

// missing says which ranks there should be, and are not.
func missing(all []*member) (doubts []profile.Warning) {
	size, has := 0, map[int]bool{}
	for _, m := range all {
		size, has[m.rank.Rank] = max(size, m.rank.Size, m.rank.Rank+1), true
	}
	var out []int
	for r := range size {
		if !has[r] {
			out = append(out, r)
		}
	}
	if len(out) > 0 {
		doubts = append(doubts, profile.Warning{Code: "missing-ranks", Message: fmt.Sprintf("there is no profile of %s of %d: what it did is not known; the others are compared with each other", Listed(out), size)})
	}
	return doubts
}

// Listed names ranks: "rank 3", "ranks 0, 2 to 5 and 9".
func Listed(ranks []int) string {
	var runs []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		switch {
		case k == i:
			runs = append(runs, strconv.Itoa(ranks[i]))
		case k == i+1:
			runs = append(runs, strconv.Itoa(ranks[i]), strconv.Itoa(ranks[k]))
		default:
			runs = append(runs, fmt.Sprintf("%d to %d", ranks[i], ranks[k]))
		}
		i = k + 1
	}
	const shown = 8
	if len(runs) > shown {
		runs = append(runs[:shown], fmt.Sprintf("%d more ranges", len(runs)-shown))
	}
	switch n := len(runs); {
	case len(ranks) == 1:
		return "rank " + runs[0]
	case n == 1:
		return "ranks " + runs[0]
	default:
		return "ranks " + strings.Join(runs[:n-1], ", ") + " and " + runs[n-1]
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
