package cfg

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/internal/flowgraph"
)

const firstPieces = `
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct task { struct task *next; long n; } *queue;
extern long work(long);

void turned(void) {
	pthread_mutex_lock(&lock);
	struct task *t = queue;
	if (t) {
		do {
			queue = t->next;
			pthread_mutex_unlock(&lock);
			work(t->n);
			pthread_mutex_lock(&lock);
		} while ((t = queue));
	}
	pthread_mutex_unlock(&lock);
}
void given(struct task *t) {
	if (!t) return;
	do {
		work(t->n);
		pthread_mutex_lock(&lock);
		t = queue;
		pthread_mutex_unlock(&lock);
	} while (t);
}
`

// TestFirstPieces: compilers turn loops round that take from a queue, and take the first
// piece before them: that it was there is as little anybody's decision as that there was more.
func TestFirstPieces(t *testing.T) {
	want := map[string]bool{"turned": true, "given": false}
	eachBuild(t, firstPieces, func(build string, p *Program) {
		for _, f := range p.Funcs {
			deals, asked := want[f.Name]
			if !asked {
				continue
			}
			g := p.Graph(f, nil)
			by, flow := NewDealer(p).Deals(g), g.flow()
			inner := flow.Loops(flow.Dominators(g.roots(Resumed))).Inner
			before := false
			for i := range by {
				before = before || by[i] && inner[i] == flowgraph.None
			}
			if !slices.Contains(by, true) || before != deals {
				t.Errorf("%s: %s: what deals %v, before the loop %v", build, f.Name, by, before)
			}
		}
	})
}
