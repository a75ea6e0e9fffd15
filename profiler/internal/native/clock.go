package native

import "time"

// rdtsc reads the time stamp counter.
func rdtsc() uint64

// tickRate is the nanoseconds of one tick of the time stamp counter.
type tickRate float64

// ns is the nanoseconds of so many ticks.
func (r tickRate) ns(ticks uint64) int64 { return int64(float64(ticks) * float64(r)) }

// ticks is how many are in a time.
func (r tickRate) ticks(d time.Duration) uint64 { return uint64(float64(d) / float64(r)) }

// stopwatch relates the time stamp counter to nanoseconds.
type stopwatch struct {
	tsc uint64
	at  time.Time
}

func startWatch() stopwatch { return stopwatch{rdtsc(), time.Now()} }

// rate measures from the watch's start until now. Reading the program has
// taken some milliseconds by then, enough for five digits.
func (w stopwatch) rate() tickRate {
	for time.Since(w.at) < 2*time.Millisecond {
	}
	return tickRate(float64(time.Since(w.at).Nanoseconds()) / float64(rdtsc()-w.tsc))
}
