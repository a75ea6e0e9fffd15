package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// Ranks are the processes of a program of several, and what is lost between them and
// within them.
type Ranks struct {
	Count int `json:"count"`
	Hosts int `json:"hosts"`
	// What cores had less to do because ranks do not do as much as each other, and
	// because the threads of a rank do not, of all that they might have done.
	Between LostAt    `json:"between"`
	Within  LostAt    `json:"within"`
	Rows    []RankRow `json:"rows"`
	Message string    `json:"message"`
}

// LostAt is what is lost on one level.
type LostAt struct {
	Instructions uint64  `json:"idle_instructions"`
	Share        float64 `json:"share"`
}

// RankRow is what a rank's threads executed in the whole run.
type RankRow struct {
	Rank    int          `json:"rank"`
	Host    string       `json:"host,omitempty"`
	Threads []RankThread `json:"threads"`
}

// RankThread is a thread that executed something that was counted, or a rank's first.
type RankThread struct {
	ID           int     `json:"id"`
	Instructions uint64  `json:"instructions"`
	BusyS        float64 `json:"busy_s"`
}

// Rank is one that others waited for.
type Rank struct {
	Rank  *int    `json:"rank,omitempty"` // none: several, or that is not known
	Late  string  `json:"late"`           // what it was late at: "send", "receive"
	Share float64 `json:"share"`          // of the wait
}

// Words say for whom was waited.
func (r *Rank) Words() string {
	who := "others"
	if r.Rank != nil {
		who = fmt.Sprintf("rank %d", *r.Rank)
	}
	did := map[string]string{"send": "sent late", "receive": "received late"}[r.Late]
	text := who + " " + did
	if r.Share < 0.995 {
		text += ", " + units.Percent(r.Share) + " of it"
	}
	return text
}

// Who is the thread that comes by a path.
func (p *Path) Who() string { return threadOf(p.Thread, p.Rank) }

// threadOf names a thread of a rank, or where there are none a thread.
func threadOf(id int, rank *int) string {
	switch {
	case rank == nil:
		return fmt.Sprintf("thread %d", id)
	case id == 0:
		return fmt.Sprintf("rank %d", *rank)
	}
	return fmt.Sprintf("thread %d of rank %d", id, *rank)
}

// comparable is a profile without what only several ranks have: of one alone, there is
// nobody to compare it with at collective calls.
func comparable(p *profile.Profile) *profile.Profile {
	isCall := func(s profile.Section) bool { return s.Kind == profile.MPI }
	if len(p.Ranks) > 1 || !slices.ContainsFunc(p.Sections, isCall) {
		return p
	}
	out := *p
	out.Sections = slices.DeleteFunc(slices.Clone(p.Sections), isCall)
	return &out
}

// several: the profile is of more processes than one.
func (b *builder) several() bool { return len(b.p.Ranks) > 1 }

// rankOf is the rank of a thread, nil where there is one process, and its number there.
func (b *builder) rankOf(id profile.ThreadID) (rank *int, local int) {
	if !b.several() || id < 0 {
		return nil, int(id)
	}
	i := sort.Search(len(b.p.Ranks), func(i int) bool { return b.p.Ranks[i].Main > id }) - 1
	if i < 0 {
		return nil, int(id)
	}
	r := b.p.Ranks[i].Rank
	return &r, int(id - b.p.Ranks[i].Main)
}

// name says whose row it is.
func (b *builder) name(th *Thread, s *profile.Section, t *lime.ThreadTotal) {
	th.of = -1
	if t.Several {
		th.eachRank = b.several()
		return
	}
	rank, id := b.rankOf(t.Thread)
	th.of, th.Rank = t.Thread, rank
	if s.Kind != profile.MPI || id > 0 {
		th.ID = &id
	}
}

var threadWord = regexp.MustCompile(`\bthread \d+ of rank\b|\b[tT]hreads?\b`)

// ofRanks words what is said of threads for ranks, which are what is compared.
func ofRanks(s *Section) {
	word := func(text string) string {
		return threadWord.ReplaceAllStringFunc(text, func(w string) string {
			switch {
			case strings.HasSuffix(w, "rank"):
				return w
			case w[0] == 'T':
				return strings.Replace(w, "Thread", "Rank", 1)
			}
			return strings.Replace(w, "thread", "rank", 1)
		})
	}
	for i := range s.Causes {
		s.Causes[i].Message = word(s.Causes[i].Message)
	}
	for i := range s.Warnings {
		s.Warnings[i].Message = word(s.Warnings[i].Message)
	}
}

// partner is the rank that most of the waiting of a group was for; nil where it is no
// waiting for ranks.
func (b *builder) partner(g *group, s *profile.Section) *Rank {
	if g.kind != profile.WaitMessage {
		return nil
	}
	type who struct {
		partner int
		sends   bool
	}
	ns, sum := map[who]int64{}, int64(0)
	parts := s.Totals
	if len(parts) == 0 {
		for i := range s.Instances {
			parts = append(parts, s.Instances[i].Parts...)
		}
	}
	for i := range parts {
		for _, m := range parts[i].Messages {
			if g.has(profile.Wait{Kind: profile.WaitMessage, Site: m.Site}) {
				ns[who{m.Partner, m.Sends}] += m.NS
				sum += m.NS
			}
		}
	}
	if sum == 0 {
		return nil
	}
	var all []who
	for w := range ns {
		all = append(all, w)
	}
	most := slices.MaxFunc(all, func(x, y who) int {
		return cmp.Or(cmp.Compare(ns[x], ns[y]), cmp.Compare(y.partner, x.partner))
	})
	out := &Rank{Late: "send", Share: round(float64(ns[most]) / float64(sum))}
	if most.sends {
		out.Late = "receive"
	}
	if rank := most.partner - 1; rank >= 0 {
		out.Rank = &rank
	}
	return out
}

// ranks is what is lost between ranks and within them. Where a rank waits, all of its
// threads do.
func (b *builder) ranks(r *Report) *Ranks {
	if !b.several() {
		return nil
	}
	out := &Ranks{Count: len(b.p.Ranks)}
	hosts, work := map[string]bool{}, uint64(0)
	for i, x := range b.p.Ranks {
		hosts[x.Host] = true
		out.Rows = append(out.Rows, b.row(i))
		for _, t := range out.Rows[i].Threads {
			work += t.Instructions
		}
	}
	out.Hosts = len(hosts)
	for i := range r.Sections {
		if s := &r.Sections[i]; s.Kind == string(profile.MPI) {
			out.Between.Instructions += s.IdleInstructions * uint64(r.Run.Threads)
		} else {
			out.Within.Instructions += s.IdleInstructions
		}
	}
	if all := float64(work + out.Between.Instructions + out.Within.Instructions); all > 0 {
		out.Between.Share, out.Within.Share = round(float64(out.Between.Instructions)/all), round(float64(out.Within.Instructions)/all)
	}
	out.Message = out.words(r.Run.Threads)
	return out
}

// sharedCores is the doubt where a machine had more ranks and threads than cores.
func (b *builder) sharedCores(threads int) []Warning {
	n, cores := map[string]int{}, map[string]int{}
	for _, x := range b.p.Ranks {
		n[x.Host], cores[x.Host] = n[x.Host]+threads, x.Cores
	}
	for _, x := range b.p.Ranks {
		if c := cores[x.Host]; c > 0 && n[x.Host] > c {
			return []Warning{{Code: "shared-cores", Message: fmt.Sprintf(
				"%s shared %s on %s: seconds, and how long ranks waited for each other, are this run's, and would differ with a core for each", units.Plural(n[x.Host]/threads, "rank")+ofThreads(threads), units.Plural(c, "core"), x.Host)}}
		}
	}
	return nil
}

func ofThreads(n int) string {
	if n < 2 {
		return ""
	}
	return " of " + units.Plural(n, "thread")
}

func (b *builder) row(i int) RankRow {
	x := b.p.Ranks[i]
	out := RankRow{Rank: x.Rank, Host: x.Host}
	next := profile.ThreadID(1) << 30
	if i+1 < len(b.p.Ranks) {
		next = b.p.Ranks[i+1].Main
	}
	from := sort.Search(len(b.p.Threads), func(k int) bool { return b.p.Threads[k].ID >= x.Main })
	for k := from; k < len(b.p.Threads) && b.p.Threads[k].ID < next; k++ {
		t := &b.p.Threads[k]
		if t.Work > 0 || t.ID == x.Main {
			out.Threads = append(out.Threads, RankThread{ID: int(t.ID - x.Main), Instructions: t.Work, BusyS: round(float64(t.CPUNS) / 1e9)})
		}
	}
	return out
}

func (r *Ranks) words(threads int) string {
	text := fmt.Sprintf("%s of what the cores could have executed is lost because ranks wait for each other", units.Percent(r.Between.Share))
	if threads < 2 {
		return text
	}
	text += fmt.Sprintf(", %s because threads within ranks do", units.Percent(r.Within.Share))
	switch b, w := r.Between.Instructions, r.Within.Instructions; {
	case b > w:
		text += ": begin between ranks"
	case w > b:
		text += ": begin within ranks"
	}
	return text
}
