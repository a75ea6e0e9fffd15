package lime

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// large builds a program of about the given number of events, of functions
// with decisions and loops that depend on the thread in many ways, and runs it
// for some instances.
func large(events, threads, instances int) *profile.Profile {
	rng := rand.New(rand.NewPCG(7, 7))
	m := newMachine()
	var top []stmt
	for len(m.p.Events) < events {
		var body []stmt
		for range 5 {
			a, b, c := rng.IntN(7), 1+rng.IntN(5), rng.IntN(3)
			body = append(body,
				&when{cond: func(w *walker) bool { return (w.id*b+w.iter+a)%5 < 2 },
					then: []stmt{&work{instructions: int32(1 + rng.IntN(20))}}, otherwise: []stmt{&work{instructions: 3}}},
				&repeat{trips: func(w *walker) int { return 1 + (w.id*b+w.m.round*c+a)%6 }, instructions: int32(2 + rng.IntN(9))})
		}
		f := m.function(fmt.Sprint("f", len(m.p.Graph.Functions)), body...)
		n := 1 + rng.IntN(4)
		top = append(top, &repeat{trips: fixed(n), instructions: 1, body: []stmt{&call{f: f}}})
	}
	mains := all(m.function("main", top...), threads)
	m.start(mains)
	for m.round = range instances {
		m.instance(mains)
	}
	return &m.p
}

// A section of the paper's size: 2,000 events of 64 threads, all stages.
func BenchmarkSection(b *testing.B) {
	p := large(2000, 64, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Analyse(p, &p.Sections[0], Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(p.Events)), "events")
	b.ReportMetric(float64(len(analyse(b, p, Options{}).Causes)), "causes")
}

// The same by regression, on a measured response.
func BenchmarkSectionBusyTime(b *testing.B) {
	p := large(2000, 64, 1)
	withBusyTime(p, 3)
	for b.Loop() {
		if _, err := Analyse(p, &p.Sections[0], Options{Response: profile.BusyTime}); err != nil {
			b.Fatal(err)
		}
	}
}

// A section that ran often: 300 instances of 16 threads and 2,000 events.
func BenchmarkInstances(b *testing.B) {
	p := large(2000, 16, 300)
	for b.Loop() {
		if _, err := Analyse(p, &p.Sections[0], Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	p := large(50000, 1, 1)
	for b.Loop() {
		New(p)
	}
	b.ReportMetric(float64(len(p.Graph.Blocks)), "blocks")
}

// withBusyTime gives every part a time of so many nanoseconds an instruction.
func withBusyTime(p *profile.Profile, ns int64) {
	for i := range p.Sections[0].Instances {
		in := &p.Sections[0].Instances[i]
		for k := range in.Parts {
			in.Parts[k].BusyNS = ns * int64(p.Instructions(in.Parts[k].Counts))
			in.Parts[k].Timed = true
		}
	}
}
