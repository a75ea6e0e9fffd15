package threadarea

import "sync/atomic"

// Goroutine is what an area says of the goroutine that has it.
type Goroutine struct {
	Runtime, ID, Parent uint64 // where the runtime has it; its number, and that of who made it
	Created, Start      uint64 // where the go statement's call returns to; the function that it began in
	Begin, End          uint64 // time stamps; the end is 0 while it lives
}

// Goroutine is that of the area. Only once State says that it runs.
func (a *Area) Goroutine() Goroutine {
	return Goroutine{Runtime: a.get(offRuntime), ID: a.get(offGoid), Parent: a.get(offGoer), Created: a.get(offGopc), Start: a.get(offStart),
		Begin: a.get(offBorn), End: a.get(offEnded)}
}

// Stints is how many ticks threads have spent on the goroutine, but for the one
// that runs it now, and since when that does: 0 where none does.
func (a *Area) Stints() (ticks, since uint64) {
	return atomic.LoadUint64(a.word(offStints)), atomic.LoadUint64(a.word(offResumed))
}
