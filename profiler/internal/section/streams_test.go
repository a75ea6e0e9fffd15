package section

import (
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestStreams: of what several threads did, the first comes next, whatever comes
// in meanwhile; none twice, and none is lost.
func TestStreams(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var q streams
		threads := make([]*thread, 1+r.IntN(6))
		last := make([]uint64, len(threads))
		for i := range threads {
			threads[i] = newThread(profile.ThreadID(i), nil, 0)
		}
		dead := map[*thread]bool{}
		in, out, horizon := 0, 0, uint64(0)
		for round := range 200 {
			for range r.IntN(8) {
				i := r.IntN(len(threads))
				if r.IntN(3) == 0 {
					q.add(threads[i].stream, &item{tsc: r.Uint64N(last[i] + 50), rec: record.Record{Wait: &record.Wait{Kind: profile.WaitFault}}})
				} else {
					last[i] += r.Uint64N(20)
					q.add(threads[i].stream, &item{tsc: last[i]})
				}
				in++
			}
			if round == 199 {
				for i, x := range threads {
					q.add(x.stream, &item{tsc: last[i], died: true})
				}
			}
			horizon += r.Uint64N(30)
			before := uint64(0)
			for {
				x, i := q.next(horizon)
				if x == nil {
					break
				}
				if i.tsc < before || i.tsc > horizon {
					t.Fatalf("%d of thread %d comes after %d, until %d", i.tsc, x.id, before, horizon)
				}
				before = i.tsc
				if i.died {
					dead[x] = true
				} else {
					out++
				}
			}
		}
		for {
			x, i := q.next(1 << 40)
			if x == nil {
				break
			}
			if i.died {
				dead[x] = true
			} else if out++; dead[x] {
				t.Fatalf("thread %d has done something since it died", x.id)
			}
		}
		if in != out {
			t.Fatalf("%d came in, %d out", in, out)
		}
	}
}
