package cfg

import "runtime"

// Graphs of tens of thousands of functions are made one after the other in the same order
// again and again: to plan, to emit, to look for calls. Each is made of its function alone, so
// that all cores may be at it, and what is done with them is done in their order:
//
//	threads   f₀ f₂ f₄ …   each in a space of its own, which it
//	          f₁ f₃ f₅ …   makes the next one in when it is told to
//	caller    f₀ f₁ f₂ f₃ …

// fewFunctions are no longer made by one thread than it takes to tell several what to do.
const fewFunctions = 256

// mostMakers are as many threads as one that uses the graphs can keep busy.
const mostMakers = 8

// Ahead makes something of each of n functions in spaces, ahead of its use, by several
// threads, and uses it in their order. What is made must not depend on what is done with it,
// and is gone when its use returns.
func Ahead[T any](n int, make func(i int, s *Space) T, use func(i int, x T)) {
	makers := min(runtime.GOMAXPROCS(0), mostMakers)
	if n < fewFunctions || makers == 1 {
		var s Space
		for i := range n {
			use(i, make(i, &s))
		}
		return
	}
	makers *= 2 // each waits for its turn to be used
	made, used := channels[T](makers), channels[struct{}](makers)
	for k := range makers {
		go func() {
			var s Space
			for i := k; i < n; i += makers {
				made[k] <- make(i, &s)
				<-used[k]
			}
		}()
	}
	done := channels[struct{}](1)[0]
	go func() { // which is not bound to a thread, as the caller may be: to stop and go on takes that long
		for i := range n {
			use(i, <-made[i%makers])
			used[i%makers] <- struct{}{}
		}
		close(done)
	}()
	<-done
}

// channels are n of them, with room for one each, so that nobody waits who need not.
func channels[T any](n int) (all []chan T) {
	for range n {
		all = append(all, make(chan T, 1))
	}
	return all
}
