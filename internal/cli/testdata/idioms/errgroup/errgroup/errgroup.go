// Package errgroup has the shape of the module's of that name, which is on no machine
// for certain: a WaitGroup inside, and the first error.
package errgroup

import "sync"

// Group is goroutines that do parts of one thing.
type Group struct {
	wg   sync.WaitGroup
	once sync.Once
	err  error
}

func (g *Group) done() { g.wg.Done() }

// Wait waits for all of them.
func (g *Group) Wait() error {
	g.wg.Wait()
	return g.err
}

// Go has another one call a function.
func (g *Group) Go(f func() error) {
	g.wg.Add(1)
	go func() {
		defer g.done()
		if err := f(); err != nil {
			g.once.Do(func() { g.err = err })
		}
	}()
}
