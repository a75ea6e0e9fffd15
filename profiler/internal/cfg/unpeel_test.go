package cfg

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

const server = `
#include <pthread.h>
#include <sched.h>
static _Atomic int job, left, ending;
extern void work(int);
void start(pthread_t *t, void *(*f)(void *)) { pthread_create(t, 0, f, 0); }
void serve(void) {
	for (int seen = 0;;) {
		while (job == seen)
			sched_yield();
		if (ending)
			return;
		work(seen++);
		left--;
	}
}`

// TestTwoWaysIntoAWait: gcc looks for more behind the work, and yields at once
// where there is none. That is one wait, with the first look from before the loop.
func TestTwoWaysIntoAWait(t *testing.T) {
	so := proctest.Build(t, "gcc", "-O2", "-shared", "-fPIC", "-pthread", proctest.Source(t, "server.c", server))
	im, err := image.OpenLibrary(so)
	if err != nil {
		t.Fatal(err)
	}
	p := Build(im, func(string) bool { return false })
	n := 0
	for _, r := range p.Regions {
		if r.Func.Name != "serve" || !r.Idle {
			continue
		}
		n++
		for _, at := range []uint64{r.Enter, r.Also} {
			if len(r.Func.GatesAt(at, true)) == 0 {
				t.Errorf("no gate before %#x", at)
			}
		}
	}
	if n != 1 {
		t.Errorf("serve idles in %d places", n)
	}
}
