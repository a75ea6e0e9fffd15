package native

import "time"

// progress tells how far a run has come.
type progress struct {
	to       func(elapsed time.Duration, threads, instances int) // nil: nobody
	started  time.Time
	reported time.Time
}

func (p *progress) start() { p.started = time.Now() }

func (p *progress) show(threads, instances int) {
	if p.to != nil && time.Since(p.reported) > 100*time.Millisecond {
		p.reported = time.Now()
		p.to(time.Since(p.started), threads, instances)
	}
}
