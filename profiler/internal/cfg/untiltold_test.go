package cfg

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/internal/flowgraph"
)

// TestUntilTold: a loop that takes a piece in each round is left by what deals where it goes
// round until a word says that all is done, and not where it counts its rounds itself, or
// ends by what it has done.
func TestUntilTold(t *testing.T) {
	const source = `
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct task { struct task *next; long n; } *queue;
static volatile int stopping, rounds;
static long total;
struct pool { long more; volatile char stop; };
extern long work(long);
static struct task *take(void) {
	pthread_mutex_lock(&lock);
	struct task *t = queue;
	if (t) queue = t->next;
	pthread_mutex_unlock(&lock);
	return t;
}
#define one() do { struct task *t = take(); if (t) total += work(t->n); } while (0)
void told(void) { while (!stopping) one(); }
void told_by_pool(struct pool *p) { while (!p->stop) one(); }
void told_twice(struct pool *p) { for (;;) { one(); if (p->stop || stopping == 2) break; } }
void counted(int n) { for (int i = 0; i < n; i++) one(); }
void counted_to_word(void) { for (int i = 0; i < rounds; i++) one(); }
void counts_in_word(void) { while (rounds > 0) { one(); rounds--; } }
void until_enough(long n) { for (long all = 0; all < n;) { struct task *t = take(); if (t) all += work(t->n); } }
void takes_nothing(void) { while (!stopping) total += work(1); }
`
	want := map[string]bool{"told": true, "told_by_pool": true, "told_twice": true,
		"counted": false, "counted_to_word": false, "counts_in_word": false, "until_enough": false, "takes_nothing": false}
	eachBuild(t, source, func(build string, p *Program) {
		d := NewDealer(p)
		for _, f := range p.Funcs {
			deals, asked := want[f.Name]
			if !asked || f.Skip != "" {
				continue
			}
			g := p.Graph(f, nil)
			loops, _ := d.loopsThatTake(g)
			got := false
			for i, by := range d.Deals(g) {
				l := loops.Inner[i]
				got = got || by && l != flowgraph.None && slices.ContainsFunc(g.Blocks[i].Succ, func(e *Edge) bool {
					return e.To != nil && loops.Inner[e.To.ID] != l
				})
			}
			if got != deals {
				t.Errorf("%s: what %s is left by deals: %v", build, f.Name, got)
			}
		}
	})
}
