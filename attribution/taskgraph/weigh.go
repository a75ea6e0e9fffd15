package taskgraph

import (
	"math/bits"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// weigh gives the tasks their lengths. A thread's CPU time is known at its ends and
// at anchors, and that of each part: what is left between two anchors is spread over
// the stretches of time there that are of no part that lies between them.
func (b *builder) weigh() {
	o := b.owners()
	folded := b.folded()
	for x := range b.threads {
		b.thread(int32(x), folded[x], o)
	}
	for s := range b.p.Sections {
		sec := &b.p.Sections[s]
		for i := range sec.Instances {
			for k := range sec.Instances[i].Parts {
				if q := &sec.Instances[i].Parts[k]; sec.Instances[i].Folded <= 1 && len(q.Waits) > 0 {
					b.waits(q, o.tasks(Part{int32(s), int32(i), int32(k)}))
				}
			}
		}
	}
	for i := range b.g.Tasks {
		if b.before(int32(i)) {
			b.g.Tasks[i].NS, b.g.Tasks[i].BusyNS = 0, 0
		}
		b.g.BusyNS += b.g.Tasks[i].BusyNS
	}
}

// owners are the tasks of each part, by lists in arrays: there are many of both.
type owners struct {
	g     *Graph
	last  []int32 // by part: its last task; −1: none
	prev  []int32 // by task: the part's one before
	given []bool  // by part: its tasks have their CPU time
	room  []int32 // for a list
}

func (b *builder) owners() *owners {
	n := b.g.sections[len(b.g.numbers)]
	o := &owners{g: b.g, prev: make([]int32, len(b.g.Tasks)), last: make([]int32, n), given: make([]bool, n)}
	for i := range o.last {
		o.last[i] = -1
	}
	for i := range b.g.Tasks {
		if t := &b.g.Tasks[i]; t.Thread >= 0 {
			b.g.Counts.Work++
			if t.Of.Section >= 0 {
				k := b.g.number(t.Of)
				o.prev[i], o.last[k] = o.last[k], int32(i)
			}
		}
	}
	return o
}

// tasks are those of a part, in order of time, until it is called again.
func (o *owners) tasks(of Part) []int32 {
	o.room = o.room[:0]
	for i := o.last[o.g.number(of)]; i >= 0; i = o.prev[i] {
		o.room = append(o.room, i)
	}
	slices.Reverse(o.room)
	return o.room
}

// before: a task is over when the graph begins.
func (b *builder) before(i int32) bool { return b.g.Tasks[i].ToNS <= b.g.FromNS }

func (b *builder) of(t *Task) *profile.Part {
	return &b.p.Sections[t.Of.Section].Instances[t.Of.Instance].Parts[t.Of.Part]
}

// folded is the CPU time of each thread in instances that were added up.
func (b *builder) folded() []int64 {
	busy := make([]int64, len(b.threads))
	for s := range b.p.Sections {
		sec := &b.p.Sections[s]
		for k := range sec.Totals {
			if q := &sec.Totals[k]; !q.Several {
				busy[b.who(q.Thread)] += q.BusyNS
			}
		}
		for i := range sec.Instances {
			for k := range sec.Instances[i].Parts {
				if q := &sec.Instances[i].Parts[k]; sec.Instances[i].Folded <= 1 && len(sec.Totals) > 0 {
					busy[b.who(q.Thread)] -= q.BusyNS
				}
			}
		}
	}
	return busy
}

// thread gives the tasks of a thread their CPU time, from anchor to anchor.
func (b *builder) thread(x int32, folded int64, o *owners) {
	t := &b.threads[x]
	begin := b.p.Threads[x].BeginNS
	last, first := anchor{begin, 0}, 0
	var rest []int32
	for _, a := range t.anchors {
		to := first
		for to < len(t.tasks) && b.g.Tasks[t.tasks[to]].ToNS <= a.at {
			to++
		}
		left := a.cpu - last.cpu - max(0, folded)
		rest = rest[:0]
		for _, i := range t.tasks[first:to] {
			y := &b.g.Tasks[i]
			if y.Of.Section >= 0 {
				if q := b.of(y); q.BeginNS >= last.at && q.ArriveNS <= a.at {
					left -= b.whole(q, y.Of, o)
					continue
				}
			}
			if !b.before(i) {
				rest = append(rest, i)
			}
		}
		left = max(0, left)
		if from := b.g.FromNS; from > begin && a.at > begin {
			// When it did what before is not known: as much as from then on.
			left = scaled(left, max(0, a.at-from), a.at-begin)
		}
		// What the first thread did before the run began, to load the program, is no spinning.
		if left = b.spread(rest, left); x > 0 || last.at > begin {
			b.g.UnplacedNS += left
		}
		last, first = a, to
	}
}

// whole gives the tasks of a part all of its CPU time, and returns that, once.
func (b *builder) whole(q *profile.Part, of Part, o *owners) int64 {
	k := o.g.number(of)
	if o.given[k] {
		return 0
	}
	o.given[k] = true
	if !q.Timed {
		b.untimed(o.tasks(of))
		return 0
	}
	b.g.UnplacedNS += b.spread(o.tasks(of), q.BusyNS)
	return q.BusyNS
}

// untimed takes all the time of a part for work.
func (b *builder) untimed(tasks []int32) {
	for _, i := range tasks {
		if t := &b.g.Tasks[i]; !t.waiting {
			t.BusyNS = t.ToNS - t.FromNS
			t.NS = t.BusyNS
			b.g.UntimedNS += t.NS
		}
	}
}

// spread gives tasks the CPU time that they have together, each as its stretch is
// long; to those that wait for a join only what is left then. None gets more than
// its stretch. It returns what there was no room for.
func (b *builder) spread(tasks []int32, busy int64) (left int64) {
	for _, waiting := range []bool{false, true} {
		room := int64(0)
		for _, i := range tasks {
			if t := &b.g.Tasks[i]; t.waiting == waiting {
				room += t.ToNS - t.FromNS
			}
		}
		if room == 0 {
			continue
		}
		own, done, given := min(busy, room), int64(0), int64(0)
		for _, i := range tasks {
			if t := &b.g.Tasks[i]; t.waiting == waiting {
				done += t.ToNS - t.FromNS
				t.BusyNS = scaled(own, done, room) - given
				t.NS = t.BusyNS
				given += t.BusyNS
			}
		}
		busy -= own
	}
	return busy
}

// waits adds what a part waited for by itself, as there is room in its stretches.
// Waits of which the graph says for whom they were are left out: those for joins,
// and those that are known one by one.
func (b *builder) waits(q *profile.Part, tasks []int32) {
	room := int64(0)
	for _, i := range tasks {
		if t := &b.g.Tasks[i]; !t.waiting {
			room += t.ToNS - t.FromNS - t.NS
		}
	}
	joined := b.threads[b.who(q.Thread)].joins
	n, _ := slices.BinarySearch(joined, q.BeginNS)
	joins := n < len(joined) && joined[n] <= q.ArriveNS
	synced := map[call]int64{}
	for i := range q.Syncs {
		s := &q.Syncs[i]
		if s.Thread != q.Thread && s.BeginNS >= q.BeginNS && s.EndNS <= q.ArriveNS {
			synced[call{s.Kind, s.Site}] += s.EndNS - s.BeginNS
		}
	}
	waits := int64(0)
	for _, w := range q.Waits {
		if !joins || w.Kind != profile.WaitJoin && !b.joins[w.Site] {
			waits += max(0, w.NS-synced[call{w.Kind, w.Site}])
		}
	}
	if waits = min(waits, room); waits <= 0 {
		return
	}
	done, given := int64(0), int64(0)
	for _, i := range tasks {
		if t := &b.g.Tasks[i]; !t.waiting {
			done += t.ToNS - t.FromNS - t.NS
			more := scaled(waits, done, room) - given
			t.NS, given = t.NS+more, given+more
		}
	}
}

// call is where a thread waits, and for what.
type call struct {
	kind profile.WaitKind
	site profile.Addr
}

// scaled is n·part/whole, rounded down, where part is at most whole: so that what is
// spread over stretches of time adds up, and none gets more than it is long.
func scaled(n, part, whole int64) int64 {
	high, low := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(high, low, uint64(whole))
	return int64(q)
}
