package cfg

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

const collectors = `
#include <pthread.h>
static struct box { pthread_mutex_t m; pthread_cond_t c; int full; } box[3];
int rounds;
void start(pthread_t *t, void *(*f)(void *)) { pthread_create(t, 0, f, 0); }
static inline __attribute__((always_inline)) void await(struct box *b)
{
	pthread_mutex_lock(&b->m);
	while (b->full)
		pthread_cond_wait(&b->c, &b->m);
	pthread_mutex_unlock(&b->m);
}
static inline __attribute__((always_inline)) void fill(struct box *b)
{
	pthread_mutex_lock(&b->m);
	b->full = 1;
	pthread_mutex_unlock(&b->m);
	pthread_cond_broadcast(&b->c);
}
__attribute__((noinline)) static void wait_for(struct box *b) { await(b); }
void in_turn(void) { await(box); await(box + 1); await(box + 2); }
void by_calls(void) { wait_for(box); wait_for(box + 1); wait_for(box + 2); }
void hands_out(void) { await(box); fill(box + 1); await(box + 1); }
void notes(void) { await(box); rounds = 1; await(box + 1); }
void either(int x) { if (x) await(box); else await(box + 1); }
`

// TestSeries: waits that follow each other, where the loop around one was written out, are
// one; not those between which something is handed out, or written, nor those of two ways.
func TestSeries(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		for _, level := range []string{"-O0", "-O2"} {
			t.Run(compiler+level, func(t *testing.T) {
				so := proctest.Build(t, compiler, level, "-shared", "-fPIC", "-pthread", proctest.Source(t, "collectors.c", collectors))
				im, err := image.OpenLibrary(so)
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]int{}
				for _, r := range Build(im, func(string) bool { return false }).Regions {
					if r.Idle {
						got[r.Func.Name]++
					}
				}
				for name, want := range map[string]int{"in_turn": 1, "by_calls": 1, "hands_out": 2, "notes": 2, "either": 2} {
					if got[name] != want {
						t.Errorf("%s waits in %d places, want %d", name, got[name], want)
					}
				}
			})
		}
	}
}
