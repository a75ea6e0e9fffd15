package section

import (
	"cmp"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Who ended a wait (rule 18): threads wait on words in memory, and a call that
// wakes them says on which, and how many. Wakes are known when their call has
// returned, which may be after the woken thread has gone on; so what belongs
// together is only looked for when a part is summed up.

// words are those that threads have waited on, by their addresses.
type words map[uint64]*word

type word struct {
	waits []*sleeper // of which nobody has asked yet who ended them
	wakes []waker    // by their begins
	news  bool       // since it was looked for who ended what
}

// sleeper is a wait that another thread has ended.
type sleeper struct {
	wake       profile.Wake // what is known of it before: all but who and how long
	begin, end uint64
	on         *word
	ended      []profile.Wake
	by         profile.ThreadID // who ended it, where ended is not empty …
	ending     uint64           // … and when it called what did
}

// waker is a call that woke threads.
type waker struct {
	begin, end uint64
	by         profile.ThreadID
	site       profile.Addr
	got        uint64 // when its thread had waited on the word itself; 0: unknown
	left       int    // how many of those that it woke are not found yet
}

// What is remembered; where there is more, the older half is settled and forgotten.
const (
	maxWords = 4096
	maxWakes = 4096 // of one word; as many waits
)

func (ws words) of(object uint64) *word {
	w := ws[object]
	if w == nil {
		if len(ws) >= maxWords {
			clear(ws) // what waits on them still knows them
		}
		w = &word{}
		ws[object] = w
	}
	return w
}

// waited follows the wait that a thread has recorded last.
func (ws words) waited(x *thread, w *record.Wait, end uint64) {
	last, on := &x.waits[len(x.waits)-1], ws.of(w.Object)
	last.on = &sleeper{wake: profile.Wake{Kind: last.Kind, Site: last.Site, NS: last.NS}, begin: w.Begin, end: end, on: on}
	on.waits, on.news = append(on.waits, last.on), true
	if len(on.waits) > maxWakes {
		on.settle()
	}
}

// woke takes note that a thread has woken others.
func (ws words) woke(x *thread, w *record.Wait, end uint64) {
	on := ws.of(w.Object)
	if n := len(on.wakes); n >= maxWakes {
		on.settle()
		on.wakes = slices.Delete(on.wakes, 0, n/2)
	}
	at := sort.Search(len(on.wakes), func(i int) bool { return on.wakes[i].begin > w.Begin })
	on.wakes, on.news = slices.Insert(on.wakes, at, waker{w.Begin, end, x.id, w.Site, x.got(on), w.Wakes}), true
}

// got is when a thread's last wait on a word ended; 0: it has had none lately.
func (x *thread) got(on *word) uint64 {
	const lately = 8
	for i := len(x.waits) - 1; i >= max(0, len(x.waits)-lately); i-- {
		if s := x.waits[i].on; s != nil && s.on == on {
			return s.end
		}
	}
	return 0
}

// endedBy is who ended a wait, as far as that is known.
func (s *sleeper) endedBy() []profile.Wake {
	if s == nil {
		return nil
	}
	if s.ended == nil && s.on.news {
		s.on.find()
		s.on.news = false
	}
	return s.ended
}

// settle looks who ended the older half of the waits, which is known by now, and
// forgets the rest of that.
func (w *word) settle() {
	slices.SortStableFunc(w.waits, func(a, b *sleeper) int { return cmp.Compare(a.begin, b.begin) })
	n := len(w.waits) / 2
	later := slices.Clone(w.waits[n:])
	w.waits = w.waits[:n]
	w.find()
	w.waits = later
}

// find looks for who ended the waits on a word, in the order in which they
// began: it is that in which the system wakes them.
func (w *word) find() {
	slices.SortStableFunc(w.waits, func(a, b *sleeper) int { return cmp.Compare(a.begin, b.begin) })
	for _, s := range w.waits {
		// A wake may have begun before the wait, and woken it all the same.
		from := sort.Search(len(w.wakes), func(i int) bool { return w.wakes[i].begin >= s.begin })
		for from > 0 && w.wakes[from-1].end > s.begin {
			from--
		}
		for to := from; to < len(w.wakes) && w.wakes[to].begin < s.end; to++ {
			if k := &w.wakes[to]; k.left > 0 {
				k.left--
				s.share(w.wakes[from : to+1])
				break
			}
		}
	}
	w.waits = slices.DeleteFunc(w.waits, func(s *sleeper) bool { return s.ended != nil })
}

// mostHolders is how many calls of those who had a lock are told of one wait for it, the
// last ones: of hundreds who queue for it each waits for all before, time and again.
const mostHolders = 32

// share says for what a thread waited that the last of some calls has woken.
// What comes behind that it waited for a core. A lock goes from one thread to
// the next while others wait for it: each has held it up to its call, from the
// one before, or since it was woken itself.
func (s *sleeper) share(wakes []waker) {
	last := len(wakes) - 1
	s.by, s.ending = wakes[last].by, wakes[last].begin
	if s.wake.Kind != profile.WaitLock {
		wakes = wakes[last:]
	}
	wakes = wakes[max(0, len(wakes)-mostHolders):]
	at, perTick := s.begin, float64(s.wake.NS)/float64(s.end-s.begin)
	s.ended = []profile.Wake{}
	for i := range wakes {
		k := &wakes[i]
		if at = max(at, k.got); k.begin > at {
			w := s.wake
			w.By, w.Thread, w.NS = k.site, k.by, int64(float64(k.begin-at)*perTick)
			s.ended = append(s.ended, w)
		}
		at = max(at, k.begin)
	}
}
