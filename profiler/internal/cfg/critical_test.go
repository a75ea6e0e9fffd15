package cfg

import "testing"

const sections = `#include <pthread.h>
extern pthread_mutex_t m, n;
extern pthread_cond_t c, d;
extern int came, all, ready;
void called(void);
void meets(void) {
	pthread_mutex_lock(&m);
	if (++came == all) { came = 0; pthread_cond_broadcast(&c); }
	else pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
}
void twice(int k) {
	for (int i = 0; i < k; i++) {
		pthread_mutex_lock(&m);
		if (++came == all) { came = 0; pthread_cond_broadcast(&c); }
		else while (came) pthread_cond_wait(&c, &m);
		pthread_mutex_unlock(&m);
	}
}
void tells(int k) {
	for (int i = 0; i < k; i++) {
		pthread_mutex_lock(&n); ready = i; pthread_cond_broadcast(&d); pthread_mutex_unlock(&n);
		pthread_mutex_lock(&m);
		while (!came) pthread_cond_wait(&c, &m);
		pthread_mutex_unlock(&m);
	}
}
void within(int k) { /* the condition has a lock of its own */
	for (int i = 0; i < k; i++) {
		pthread_mutex_lock(&m);
		if (++came == all) {
			came = 0;
			pthread_mutex_lock(&n); pthread_cond_broadcast(&c); pthread_mutex_unlock(&n);
		} else {
			pthread_mutex_lock(&n); pthread_mutex_unlock(&m);
			pthread_cond_wait(&c, &n);
			pthread_mutex_unlock(&n); pthread_mutex_lock(&m);
		}
		pthread_mutex_unlock(&m);
	}
}
void held(void) { /* the lock is its caller's */
	if (++came == all) { came = 0; pthread_cond_broadcast(&c); }
	else pthread_cond_wait(&c, &m);
	ready++;
}
void unknown(void) {
	pthread_mutex_lock(&n); ready = 1; called(); pthread_cond_broadcast(&d); pthread_mutex_unlock(&n);
	pthread_mutex_lock(&m);
	while (!came) pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
}
void (*pointer)(void);
void called(void) { pointer(); }
`

// TestApart: a wait and a wake in one critical section, in two, and where that is
// not known.
func TestApart(t *testing.T) {
	want := map[string]bool{"meets": false, "twice": false, "tells": true, "within": false, "held": false, "unknown": false}
	eachBuild(t, sections, func(build string, p *Program) {
		for _, f := range p.Funcs {
			apart, asked := want[f.Name]
			if !asked {
				continue
			}
			var waits, wakes []uint64
			for _, b := range p.Blocks(f, &Space{}).Blocks {
				for i := range b.Calls {
					switch c := &b.Calls[i]; c.Import {
					case "pthread_cond_wait":
						waits = append(waits, c.Insn.Addr)
					case "pthread_cond_broadcast":
						wakes = append(wakes, c.Insn.Addr)
					}
				}
			}
			if len(waits) == 0 || len(wakes) == 0 {
				t.Errorf("%s: %s waits at %#x, wakes at %#x", build, f.Name, waits, wakes)
			}
			locks := NewLocks(p)
			for _, a := range waits {
				for _, b := range wakes {
					if got := locks.Apart(a, b); got != apart {
						t.Errorf("%s: %s: %v", build, f.Name, got)
					}
				}
			}
		}
	}, "-fno-semantic-interposition")
}
