package ranks

import (
	"runtime"

	"github.com/skewlens/skewlens/profile"
)

// Source is the profile of one rank, which is read twice; and once only its head, as
// by profile.ReadHead.
type Source struct {
	Name       string
	Head, Read func() (*profile.Profile, error)
}

// each reads profiles, a few at a time, and hands them on in their order. Those that
// cannot be read are handed on too.
func each(list []*member, do func(m *member, p *profile.Profile, err error)) {
	type result struct {
		p   *profile.Profile
		err error
	}
	next := make(chan chan result, runtime.GOMAXPROCS(0))
	go func() {
		defer close(next)
		for _, m := range list {
			c := make(chan result, 1)
			next <- c
			go func() {
				p, err := m.source.Read()
				c <- result{p, err}
			}()
		}
	}()
	for _, m := range list {
		r := <-<-next
		do(m, r.p, r.err)
	}
}
