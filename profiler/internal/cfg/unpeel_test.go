package cfg

import (
	"slices"
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

const boxes = `
#include <pthread.h>
#include <sched.h>
static struct { _Atomic int job; char alone[60]; } box[64];
static _Atomic int pending;
extern void work(int, int);
void start(pthread_t *t, void *(*f)(void *)) { pthread_create(t, 0, f, 0); }
void serve(int id, int n) {
	for (;;) {
		int job = box[id].job;
		if (job == 0) {
			sched_yield();
			continue;
		}
		if (job < 0)
			return;
		box[id].job = 0;
		for (int k = 0; k < 8; k++)
			work(k * n + (k % 2 == 0 ? id : n - 1 - id), job);
		pending--;
	}
}
void hand_out(int n, int rounds) {
	for (int round = 1; round <= rounds; round++) {
		pending = n;
		for (int t = 0; t < n; t++)
			box[t].job = round;
		while (pending > 0)
			sched_yield();
	}
}
__asm__(".text\n.globl kept\n.type kept, @function\nkept: sub $24, %rsp\n"
	"1: mov (%rdi), %eax\n test %eax, %eax\n je 3f\n"
	"2: js 4f\n mov %rdi, 8(%rsp)\n mov %eax, %esi\n call work@plt\n mov 8(%rsp), %rdi\n lock decl 64(%rdi)\n"
	"mov (%rdi), %eax\n test %eax, %eax\n jne 2b\n"
	"3: mov %rdi, (%rsp)\n call sched_yield@plt\n mov (%rsp), %rdi\n jmp 1b\n"
	"4: add $24, %rsp\n ret\n.size kept, .-kept\n");`

// TestYieldBetweenLooks: one wait, wherever it is come to: gcc enters that of who hands work
// out at the yield, or at the look where n is 0; unoptimised, goes back from the yield by
// the jump by which it does from the work; and may keep a register over the yield.
func TestYieldBetweenLooks(t *testing.T) {
	eachBuild(t, boxes, func(build string, p *Program) {
		for _, name := range []string{"serve", "hand_out", "kept"} {
			if !slices.ContainsFunc(p.Regions, func(r Region) bool { return r.Idle && r.Func.Name == name }) {
				t.Errorf("%s: %s idles nowhere", build, name)
			}
		}
	})
}

// TestWakes: who may hand work out by a call, of whatever kind.
func TestWakes(t *testing.T) {
	eachBuild(t, `
extern long mq_send(int, const char *, unsigned long, unsigned), write(int, const void *, unsigned long);
extern int sem_post(void *), pthread_cond_signal(void *), puts(const char *);
int all(void *x) { puts(x); return mq_send(1, x, 2, 3) + write(1, x, 2) + sem_post(x) + pthread_cond_signal(x) + 1; }
extern long syscall(long, ...);
long asks(int *x) { x[1]++; if (*x) syscall(202, x, 129, 1); return x[1]; }
long waits(int *x) { x[1]++; if (*x) syscall(202, x, 128, 1); return x[1]; }
`, func(build string, p *Program) {
		for _, f := range p.Funcs {
			n, first := 0, 0
			for i, b := range p.Graph(f, nil).Blocks {
				if n += p.Wakes(b); i == 0 {
					first = n
				}
			}
			if (f.Name == "asks" || f.Name == "waits") && (first > 0) != (f.Name == "asks") {
				t.Errorf("%s: %s looks whether to wake somebody %d times", build, f.Name, first)
			}
			if f.Name == "all" && n != 4 {
				t.Errorf("%s: %d calls wake", build, n)
			}
		}
	})
}
