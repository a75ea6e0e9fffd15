package cfg

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
)

// TestWrapped: which functions of a library are what one call in them is, built by several
// compilers; those that do more are not.
func TestWrapped(t *testing.T) {
	want := map[string]string{
		"waits": "pthread_cond_wait", "sees": "sem_wait", "retries": "sem_wait", "locks": "pthread_mutex_lock",
		"counts": "", "twice": "", "computes": "", "calls": "",
	}
	eachBuild(t, `
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
struct pl { pthread_mutex_t lock; pthread_cond_t cond; sem_t sem; int n; };
extern void other(void);
int waits(struct pl *x) { return pthread_cond_wait(&x->cond, &x->lock); }
void sees(struct pl *x) { if (sem_wait(&x->sem)) { perror("sees"); abort(); } }
int retries(struct pl *x) { int r; do r = sem_wait(&x->sem); while (r && errno == EINTR); return r; }
void locks(struct pl *x) { pthread_mutex_lock(&x->lock); }
int counts(struct pl *x) { x->n++; return sem_wait(&x->sem); }
void twice(struct pl *x) { sem_wait(&x->sem); sem_wait(&x->sem); }
int computes(struct pl *x) { return x->n * 3; }
int calls(struct pl *x) { other(); return sem_wait(&x->sem); }
`, func(build string, lib *Program) {
		p := &Program{Image: &image.Image{Imports: map[string]bool{}}}
		for n := range want {
			p.Image.Imports[n] = true
		}
		p.findWrapped([]*image.Image{lib.Image})
		for n, of := range want {
			if got := p.wrapped[n]; got != of {
				t.Errorf("%s: %s is %q, want %q", build, n, got, of)
			}
		}
		if got := p.meaning("counts"); got != "counts" {
			t.Errorf("counts means %q", got)
		}
	})
}
