package cfg

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// dealers are functions whose loops take their work from a store that all
// share; others only look like it.
const dealers = `
#include <pthread.h>
#include <stdatomic.h>
static atomic_int next, hits, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct task { struct task *next; long n; } *queue;
static long total, slots[1000];
extern long work(long);

void counter_deals(int n) { for (int i; (i = atomic_fetch_add(&next, 1)) < n;) total += work(i); }
void guided_deals(int n) {
	for (;;) {
		int i = atomic_load(&next), to;
		do to = i + (n - i) / 2 + 1; while (!atomic_compare_exchange_weak(&next, &i, to));
		if (i >= n) break;
		work(i);
	}
}
static struct task *take(void) {
	pthread_mutex_lock(&lock);
	struct task *t = queue;
	if (t) queue = t->next;
	pthread_mutex_unlock(&lock);
	return t;
}
void queue_deals(void) { for (struct task *t; (t = take());) work(t->n); }
__attribute__((noinline)) static struct task *taken(void) { return take(); }
void called_deals(void) { for (struct task *t; (t = taken());) work(t->n); }

static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int waiting, ending;
void slot_deals(void) { /* what waits was read from the table of offsets before the loop */
	int (*wait)(pthread_cond_t *, pthread_mutex_t *);
	__asm__("mov pthread_cond_wait@GOTPCREL(%%rip), %0" : "=r"(wait));
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!queue && !ending) wait(&more, &lock);
		struct task *t = queue;
		if (!t) break;
		queue = t->next;
		pthread_mutex_unlock(&lock);
		work(t->n);
	}
	pthread_mutex_unlock(&lock);
}
void pool_deals(void) {
	pthread_mutex_lock(&lock);
	for (;;) {
		if (--waiting == 0) pthread_cond_broadcast(&more);
		while (!queue && !ending) pthread_cond_wait(&more, &lock);
		if (ending) break;
		struct task *t = queue;
		queue = t->next;
		pthread_mutex_unlock(&lock);
		work(t->n);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
}

static void __attribute__((noinline)) hold(void) { pthread_mutex_lock(&lock); }
static void __attribute__((noinline)) let_go(void) { pthread_mutex_unlock(&lock); }
static int __attribute__((noinline)) empty(void) { return !queue; }
static void __attribute__((noinline)) await(void) { while (empty() && !ending) pthread_cond_wait(&more, &lock); }
static struct task *__attribute__((noinline)) front(void) { struct task *t = queue; queue = t->next; return t; }
void wrapped_deals(void) {
	hold();
	for (;;) {
		await();
		if (empty()) break;
		struct task *t = front();
		let_go();
		work(t->n);
		hold();
	}
	let_go();
}

void steals(void) {
	while (atomic_load(&room) > 0) {
		long n = -1;
		pthread_mutex_lock(&lock);
		if (queue) { n = queue->n; queue = queue->next; }
		pthread_mutex_unlock(&lock);
		if (n >= 0) { work(n); atomic_fetch_sub(&room, 1); }
	}
}

struct job { long kind, n, more[4]; };
static __attribute__((noinline)) struct job next_job(void) {
	struct job j = {0};
	pthread_mutex_lock(&lock);
	if (queue) { j.kind = 1; j.n = queue->n; queue = queue->next; }
	pthread_mutex_unlock(&lock);
	return j;
}
void object_deals(void) {
	for (;;) {
		struct job j = next_job();
		if (!j.kind) break;
		work(j.n);
	}
}
static __attribute__((noinline)) int is_one(const struct job *j) { return j->kind != 0; }
void asked_deals(void) {
	for (;;) {
		struct job j = next_job();
		if (!is_one(&j)) break;
		work(j.n);
	}
}
struct pair { long n, some; };
static __attribute__((noinline)) struct pair next_pair(void) {
	struct pair p = {0, 0};
	pthread_mutex_lock(&lock);
	if (queue) { p.n = queue->n; p.some = 1; queue = queue->next; }
	pthread_mutex_unlock(&lock);
	return p;
}
void pair_deals(void) {
	for (;;) {
		struct pair p = next_pair();
		if (!p.some) break;
		work(p.n);
	}
}
static struct task *_Atomic top;
void stack_deals(void) {
	for (;;) {
		struct task *t = top;
		if (!t) break;
		if (atomic_compare_exchange_strong(&top, &t, t->next)) work(t->n);
	}
}
static atomic_int spins;
static int at;
void spin_lock_deals(int n) {
	for (;;) {
		while (atomic_exchange(&spins, 1)) ;
		int i = at++;
		atomic_store(&spins, 0);
		if (i >= n) break;
		work(i);
	}
}
void tried_deals(int n) {
	for (;;) {
		if (atomic_exchange(&spins, 1)) while (atomic_load(&spins) || atomic_exchange(&spins, 1)) ;
		int i = at++;
		atomic_store(&spins, 0);
		if (i >= n) break;
		work(i);
	}
}

static volatile int stopping;
void until_told(void) {
	while (!stopping) {
		struct task *t = take();
		if (t) work(t->n);
		total++;
	}
}
void until_counted(int n) {
	for (int i = 0; i < n; i++) {
		struct task *t = take();
		if (t) work(t->n);
		total++;
	}
}
void ends_by_call(void) {
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!queue && !ending) pthread_cond_wait(&more, &lock);
		if (ending) break;
		struct task *t = queue;
		queue = t->next;
		pthread_mutex_unlock(&lock);
		work(t->n);
	}
	pthread_mutex_unlock(&lock);
	pthread_exit(0);
}
struct function { long held[2]; int (*manager)(void *, void *, int); };
struct call { struct call *next; struct function f; } *calls;
void destroys_deals(struct function *f) {
	pthread_mutex_lock(&lock);
	for (;;) {
		struct call *c = calls;
		if (!c) break;
		calls = c->next;
		pthread_mutex_unlock(&lock);
		work(c->f.held[0]);
		pthread_mutex_lock(&lock);
		if (f->manager) f->manager(f, f, 3); // as std::function's destructor does
	}
	pthread_mutex_unlock(&lock);
}
extern void *g_async_queue_pop(void *);
void glib_queue_deals(void *q) { for (struct task *t; (t = g_async_queue_pop(q))->next;) work(t->n); }

static int many;
extern void g_mutex_lock(void *), g_mutex_unlock(void *);
void glib_deals(int n) {
	for (;;) {
		g_mutex_lock(&many);
		int i = at++;
		g_mutex_unlock(&many);
		if (i >= n) break;
		work(i);
	}
}
void glib_sums(int n) {
	for (int i = 0; i < n; i++) {
		long x = work(i);
		g_mutex_lock(&many);
		total += x;
		g_mutex_unlock(&many);
	}
}
static int run_one(void *) __asm__("_ZN5boost4asio6detail9scheduler10do_run_oneERNS1_27conditionally_enabled_mutex11scoped_lockE");
__attribute__((noinline)) static int run_one(void *io) { return work((long)io); }
void asio_deals(void *io) { while (run_one(io)) total++; }

extern long mq_receive(int, char *, unsigned long, unsigned *), msgrcv(int, void *, unsigned long, long, int), read(int, void *, unsigned long);
void message_deals(int q) { for (long n[2]; mq_receive(q, (char *)n, sizeof n, 0) == sizeof n && n[0];) work(n[1]); }
void taken_message_deals(int q) {
	for (;;) {
		struct job j;
		msgrcv(q, &j, sizeof j - sizeof j.kind, 0, 0);
		if (!j.n) break;
		work(j.n);
	}
}
void reads(int fd) { for (long n; read(fd, &n, sizeof n) == sizeof n;) work(n); }
extern int pipe(int *);
static int jobs[8];
static __thread int own_jobs[2];
void opens(void) { pipe(jobs), pipe(own_jobs); }
void pipe_deals(void) { for (long n; read(jobs[0], &n, sizeof n) == sizeof n && n;) work(n); }
void reads_own(int me) { for (long n; read(jobs[me], &n, sizeof n) == sizeof n && n;) work(n); }
void reads_threads(void) { for (long n; read(own_jobs[0], &n, sizeof n) == sizeof n && n;) work(n); }

void once(struct job *j) {
	for (int i = 0; i < j->n; i++) {
		total |= atomic_exchange(&spins, 1);
		work(i);
	}
}
void panics(int n) {
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		if (waiting) __builtin_trap(); // the lock is poisoned
		total += i;
		pthread_mutex_unlock(&lock);
		work(i);
	}
}
static __attribute__((noinline)) void add(const struct job *j) {
	pthread_mutex_lock(&lock);
	total += j->n;
	pthread_mutex_unlock(&lock);
}
void adds(int n) {
	for (int i = 0; i < n; i++) {
		struct job j = {work(i), work(i)};
		add(&j);
		if (!j.kind) break;
	}
}
void plain(int n) { for (int i = 0; i < n; i++) work(i); }
void counts(int n) { for (int i = 0; i < n; i++) { work(i); atomic_fetch_add(&hits, 1); } }
void appends(int n) { for (int i = 0; i < n; i++) slots[atomic_fetch_add(&room, 1)] = work(i); }
void sums(int n) {
	for (int i = 0; i < n; i++) {
		long x = work(i);
		pthread_mutex_lock(&lock);
		total += x;
		pthread_mutex_unlock(&lock);
	}
}
static int __attribute__((noinline)) tail(long *x) { return *x > 0; }
void releases(long *x) {
	do {
		hold();
		total += *x;
		let_go();
		work(*x++);
	} while (tail(x));
}
`

// TestDeals: a loop deals where what was taken decides whether it goes on, not
// where it only counts or adds up what it did.
func TestDeals(t *testing.T) {
	want := map[string]bool{"counter_deals": true, "guided_deals": true, "queue_deals": true, "called_deals": true, "pool_deals": true, "slot_deals": true, "wrapped_deals": true, "steals": true,
		"object_deals": true, "asked_deals": true, "pair_deals": true, "stack_deals": true, "spin_lock_deals": true, "tried_deals": true,
		"glib_deals": true, "asio_deals": true, "message_deals": true, "taken_message_deals": true, "reads": false, "pipe_deals": true, "reads_own": false, "reads_threads": false,
		"until_told": true, "ends_by_call": true, "destroys_deals": true, "glib_queue_deals": true, "glib_sums": false, "once": false, "adds": false, "panics": false,
		"plain": false, "counts": false, "appends": false, "sums": false, "releases": false}
	eachBuild(t, dealers, func(build string, p *Program) {
		d := NewDealer(p)
		for _, f := range p.Funcs {
			deals, asked := want[f.Name]
			if !asked || f.Skip != "" {
				continue
			}
			if f.Name == "slot_deals" && strings.HasSuffix(build, "-O0") {
				deals = false // what was read lies in memory
			}
			if got := slices.Contains(d.Deals(p.Graph(f, nil)), true); got != deals {
				t.Errorf("%s: %s deals: %v", build, f.Name, got)
			}
		}
	})
}

// eachBuild analyses a source as a shared library, built by each compiler that there
// is on each level.
func eachBuild(t *testing.T, source string, look func(build string, p *Program), flags ...string) {
	t.Helper()
	proctest.Need(t, "cc")
	dir := t.TempDir()
	src := filepath.Join(dir, "source.c")
	if err := os.WriteFile(src, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, cc := range []string{"gcc", "clang"} {
		if _, err := exec.LookPath(cc); err != nil {
			continue
		}
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
			so := filepath.Join(dir, cc+level+".so")
			if msg, err := exec.Command(cc, append(flags, level, "-shared", "-fPIC", "-pthread", src, "-o", so)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, msg)
			}
			im, err := image.OpenLibrary(so)
			if err != nil {
				t.Fatal(err)
			}
			look(cc+" "+level, Build(im, func(string) bool { return false }))
		}
	}
}

// TestRuntimeDeals: so do loops of which OpenMP's runtime deals the rounds out.
func TestRuntimeDeals(t *testing.T) {
	const source = `
extern long work(long);
static long out[64];
void dynamic(int n) {
	#pragma omp parallel for schedule(dynamic, 2)
	for (int i = 0; i < n; i++) out[i] += work(i);
}
`
	const sections = `
extern long work(long);
static long out[64];
void parts(long n) {
	#pragma omp parallel
	{
		#pragma omp sections
		{
			#pragma omp section
			out[0] += work(n);
			#pragma omp section
			out[1] += work(n + 1);
			#pragma omp section
			out[2] += work(n + 2);
			#pragma omp section
			out[3] += work(n + 3);
			#pragma omp section
			out[4] += work(n + 4);
		}
		out[9] += work(n);
	}
}
`
	const critical = `
extern long work(long);
static long out[64];
void queue(long n) {
	long next = 0;
	#pragma omp parallel shared(next)
	for (;;) {
		long i;
		#pragma omp critical
		i = next++;
		if (i >= n) break;
		out[i] += work(i);
	}
}
`
	for _, text := range []string{source, sections, critical} {
		eachBuild(t, text, func(build string, p *Program) {
			d := NewDealer(p)
			found := slices.ContainsFunc(p.Funcs, func(f *Func) bool {
				return f.Skip == "" && slices.Contains(d.Deals(p.Graph(f, nil)), true)
			})
			if clang := strings.HasPrefix(build, "clang"); !found && !(clang && text == sections) { // clang deals them beforehand
				t.Errorf("%s: nothing deals in %s", build, text)
			}
		}, "-fopenmp")
	}
	for name, want := range map[string]bool{"GOMP_loop_nonmonotonic_dynamic_next": true, "GOMP_loop_ull_guided_start": true, "GOMP_sections_next": true,
		"__kmpc_dispatch_next_4": true, "GOMP_loop_static_next": false, "GOMP_loop_end": false, "GOMP_loop_dynamic_end": false, "GOMP_barrier": false} {
		if Deals(name) != want {
			t.Errorf("%s deals: %v", name, !want)
		}
	}
}

// TestLetsMeet: what these fetch from what all share is no work that they deal out.
func TestLetsMeet(t *testing.T) {
	for name, want := range map[string]bool{"_ZNSt5latch10count_downEl": true, "internal/poll.(*fdMutex).rwlock": true,
		"internal/poll.(*FD).Read": true, "main.(*fdMutex).rwlock": false, "latch": false} {
		if letsMeet(name) != want {
			t.Errorf("%s lets threads meet: %v", name, !want)
		}
	}
}

// TestLockOf: what libraries' own locks are called, whatever the version in their names.
func TestLockOf(t *testing.T) {
	for name, want := range map[string][2]bool{
		"pthread_mutex_lock": {true, false}, "pthread_mutex_unlock": {false, true}, "g_cond_wait": {true, false}, "uv_mutex_unlock": {false, true},
		"_ZN4absl12lts_202206235Mutex4LockEv": {true, false}, "_ZN4absl7debian35Mutex6UnlockEv": {false, true},
		"_ZN5boost5mutex4lockEv": {true, false}, "_ZN6QMutex6unlockEv": {false, true}, "_ZN4Poco9MutexImpl8lockImplEv": {true, false},
		"GOMP_critical_start": {true, false}, "__kmpc_end_critical": {false, true}, "omp_set_lock_": {true, false}, "omp_test_nest_lock": {true, false},
		"GOMP_critical_name_end": {false, true}, "omp_init_lock": {false, false},
		"my5Mutex4LockEv": {false, false}, "_ZN5Mutex4LockERKi": {false, false}, "puts": {false, false},
	} {
		if locks, unlocks := lockOf(name); locks != want[0] || unlocks != want[1] {
			t.Errorf("%s locks: %v, unlocks: %v", name, locks, unlocks)
		}
	}
}

// TestTakesInline: functions that have a lock when they return, by name.
func TestTakesInline(t *testing.T) {
	for name, want := range map[string]bool{
		"sync.(*Cond).Wait": true, "_ZN3std4sync7condvar7Condvar4wait17h0E": true,
		"_ZNSt3_V222condition_variable_any4waitISt11unique_lockISt5mutexEZ5serveSt10stop_tokenEUlvE_EEbRT_S4_T0_": true,
		"_ZNSt3_V222condition_variable_any10notify_allEv":                                                         false,
	} {
		if takesInline(name) != want {
			t.Errorf("%s takes a lock: %v", name, !want)
		}
	}
}

// goDealers are the like in Go, where locks are inlined and results are many.
const goDealers = `package main

import (
	"sync"
	"sync/atomic"
)

type queue struct {
	mu   sync.Mutex
	jobs []int
}

//go:noinline
func (q *queue) pop() (int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return 0, false
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	return j, true
}

//go:noinline
func popDeals(q *queue) {
	for {
		j, ok := q.pop()
		if !ok {
			return
		}
		work(j)
	}
}

//go:noinline
func counterDeals(mu *sync.Mutex, next *int) {
	for {
		mu.Lock()
		j := *next
		*next++
		mu.Unlock()
		if j >= 60 {
			return
		}
		work(j)
	}
}

//go:noinline
func rangeDeals(mu *sync.RWMutex, m map[int]bool) {
	for {
		mu.Lock()
		j := -1
		for j = range m {
			delete(m, j)
			break
		}
		mu.Unlock()
		if j < 0 {
			return
		}
		work(j)
	}
}

//go:noinline
func condDeals(mu *sync.Mutex, c *sync.Cond, jobs *[]int) {
	for {
		mu.Lock()
		for len(*jobs) == 0 {
			c.Wait()
		}
		j := (*jobs)[0]
		*jobs = (*jobs)[1:]
		mu.Unlock()
		work(j)
	}
}

//go:noinline
func indexDeals[T any](in []T, f func(T)) func() {
	var next atomic.Int64
	return func() {
		i := int(next.Add(1) - 1)
		for ; i < len(in); i = int(next.Add(1) - 1) {
			f(in[i])
		}
	}
}

//go:noinline
func givenDeals(task func(), tasks chan func()) {
	for task != nil {
		task()
		task = <-tasks
	}
}

//go:noinline
func given(n int, tasks chan func()) { // how often is given
	for n > 0 {
		(<-tasks)()
		n--
	}
}

//go:noinline
func sums(mu *sync.Mutex, total *int) {
	for i := range 60 {
		work(i)
		mu.Lock()
		*total += i
		mu.Unlock()
	}
}

var sink int

//go:noinline
func work(n int) { sink += n }

func main() {
	var mu sync.Mutex
	var rw sync.RWMutex
	n := 0
	popDeals(&queue{jobs: []int{1}})
	counterDeals(&mu, &n)
	rangeDeals(&rw, map[int]bool{1: true})
	sums(&mu, &n)
	go condDeals(&mu, sync.NewCond(&mu), &[]int{1})
	indexDeals([]int{1, 2}, work)()
	tasks := make(chan func(), 2)
	tasks <- func() { work(1) }
	tasks <- nil
	givenDeals(func() { work(2) }, tasks)
	tasks <- func() { work(1) }
	given(1, tasks)
}
`

// TestGoDeals: a loop is left where what was taken says so.
func TestGoDeals(t *testing.T) {
	proctest.Need(t, "go")
	dir := t.TempDir()
	src, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "prog")
	if err := os.WriteFile(src, []byte(goDealers), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"", "-N -l"} {
		if msg, err := exec.Command("go", "build", "-gcflags", flags, "-o", out, src).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, msg)
		}
		im, err := image.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		p := Build(im, func(string) bool { return false })
		d := NewDealer(p)
		for name, want := range map[string]bool{"main.popDeals": true, "main.counterDeals": true, "main.rangeDeals": true, "main.sums": false, "main.givenDeals": true, "main.indexDeals[go.shape.int].func1": true, "main.condDeals": true, "main.given": false} {
			i := slices.IndexFunc(p.Funcs, func(f *Func) bool { return f.Name == name })
			if i < 0 {
				t.Fatalf("no %s", name)
			}
			g := p.Graph(p.Funcs[i], nil)
			left := false
			for i, deals := range d.Deals(g) {
				b := g.Blocks[i]
				left = left || deals && slices.ContainsFunc(b.Succ, func(e *Edge) bool { return e.To != nil && !b.Loop.Has(e.To) })
			}
			if left != want {
				t.Errorf("-gcflags=%q: %s deals: %v", flags, name, left)
			}
		}
	}
}
