package lsp

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// settled is how long nothing changes before lists are made anew.
const settled = 200 * time.Millisecond

// announceSoon is for what changes with every key: where results stand, and
// whether they are stale. It is called with the lock of s.told held.
func (s *server) announceSoon(v *view) {
	if !v.notify {
		return
	}
	if s.told.soon != nil {
		s.told.soon.Reset(settled)
		return
	}
	s.told.soon = time.AfterFunc(settled, func() { s.announce(false) })
}

// oftenEnough is how often it is looked whether what is said of ages is out of date.
const oftenEnough = 20 * time.Second

// grow has lenses asked for again when the ages in them are others than those that
// were shown last.
func (s *server) grow() {
	tick := time.NewTicker(oftenEnough)
	defer tick.Stop()
	shown := ""
	for {
		select {
		case <-s.over:
			return
		case <-tick.C:
		}
		v, now := s.view(), ""
		for _, r := range v.results.All() {
			now += r.Name() + age(v.now.Sub(r.When))
		}
		if now != shown && shown != "" {
			s.refresh()
		}
		shown = now
	}
}

// announce tells a client that wants to know it that skewlens.causes or skewlens.heat answers
// differently; always, or only if it does.
func (s *server) announce(always bool) {
	s.told.mu.Lock()
	defer s.told.mu.Unlock()
	v := s.view()
	if !v.notify {
		return
	}
	now := v.digest()
	if always || s.told.results != now {
		s.told.results = now
		s.tell("skewlens/resultsChanged", wire.Object{})
	}
}

// digest is another when skewlens.causes or skewlens.heat answers differently.
func (v *view) digest() uint64 {
	h := fnv.New64a()
	for _, r := range v.results.All() {
		where := func(a *results.Anchor) {
			if a != nil {
				fmt.Fprintln(h, a.Path, r.Point(a), r.Stands(a))
			}
		}
		fmt.Fprintln(h, r.Name(), r.Staleness(), v.summary(r))
		for _, sec := range r.Sections {
			where(sec.At)
			for _, w := range sec.Work {
				where(w.At)
			}
			for _, c := range v.shownOf(sec) {
				fmt.Fprintln(h, c.Rank)
				where(c.At)
			}
		}
	}
	return h.Sum64()
}
