package relocate

import (
	"bytes"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

const resting = `extern void abort(void);
long out[64];
int main(void)
{
    #pragma omp parallel
    #pragma omp single nowait
    {
        #pragma omp task
        out[3]++;
        #pragma omp taskwait
        out[4]++;
    }
}
`

// TestRests: who waits for tasks rests in the runtime, and works behind it; whoever begins
// a task or a region works, and rests at its end. Without virtual time nobody says so.
func TestRests(t *testing.T) {
	p := probetest.Open(t, proctest.Build(t, "gcc", "-O1", "-g", "-fopenmp", proctest.Source(t, "rests.c", resting)))
	for looks, want := range map[bool]int{false: 0, true: 3} { // at the wait, in the region and in the task
		s := New(p, probetest.NoHooks, probe.Options{Looks: looks}, Numbers{})
		c, err := s.Assemble(s.Home())
		if err != nil {
			t.Fatal(err)
		}
		calls := func(entry uint64) (n int) {
			for at := c.Base; at < c.Base+uint64(len(c.Bytes)); at++ {
				a := asm.New(at)
				a.CallTo(c.Base + entry)
				if bytes.HasPrefix(c.Bytes[at-c.Base:], a.Bytes()) {
					n++
				}
			}
			return n
		}
		if rests, works := calls(threadarea.RestsEntry), calls(threadarea.WorksEntry); works != want || rests < want {
			t.Errorf("looks %v: %d rests, %d works, want %d", looks, rests, works, want)
		}
	}
}
