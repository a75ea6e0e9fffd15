package cfg

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// told are functions each with one loop; its name says what that goes round by: constants
// and what is one for all (alike), an argument (second), or data.
const told = `
#include <stdatomic.h>
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif
extern void step(void);
extern long ask(void);
extern void fill(long *);
static long each = 5, next;
static _Atomic long shared;
static __thread long mine;
static long sizes[8];
struct node { struct node *next; long n; };

void few_alike(void) { for (long i = 0; i < 70000; i++) step(); }
void global_alike(void) { for (long i = 0; i < each; i++) step(); }
void chosen_alike(int id) { long n = 3; if (id == 2) { step(); n = 9 * each; } for (long i = 0; i < n; i++) step(); }
void down_alike(void) { long n = 2 * each + 1; do step(); while (--n > 0); }
APART void rounds_second(const char *what, long n) { for (long i = 0; i < n; i++) step(); }
APART void int_second(const char *what, int n) { n += 3; while (n-- > 0) step(); }
void spilt_alike(long *p) {
	long a = each, b = 2 * each, c = 3 * each, d = a + b, e = c + d, f = d * e, g = e + f, h = f * g, n = 7 * each;
	for (long i = 0; i < n; i++) { step(); p[i] = a + b * c - d + e * f - g * h; }
}
void sized_data(int id) { for (long i = 0; i < sizes[id]; i++) step(); }
void tls_data(void) { for (long i = 0; i < mine; i++) step(); }
void asked_data(void) { long n = ask(); for (long i = 0; i < n; i++) step(); }
void list_data(struct node *p) { for (; p; p = p->next) step(); }
void filled_data(void) { long n = 3; fill(&n); for (long i = 0; i < n; i++) step(); }
void field_data(struct node *p) { for (long i = 0; i < p->n; i++) step(); }
void taken_data(void) { while (atomic_fetch_add(&shared, 1) < 100) step(); }
void counted_data(void) { while (next < 100) { next++; step(); } }
void real_data(double x) { for (long i = 0; i < (long)x; i++) step(); }
void to_real_data(double x) { for (double y = 1; y < x; y *= 2) step(); }

void caller(int id) {
	rounds_second("one", 300 * each);
	step();
	int_second(sizes[id] ? "some" : "", sizes[id]);
}
int main(void) { each = ask(); fill(sizes); fill(&mine); return 0; }
`

// others leave nothing of what they do to guess.
const others = `
void step(void) { __asm__ volatile("" ::: "rax", "rdx", "memory"); }
long ask(void) { long n; __asm__ volatile("" : "=r"(n)); return n; }
void fill(long *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
`

// TestInputs: the branches by which loops are left, and what calls pass, as compilers write it.
func TestInputs(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "told.c")
	if err := os.WriteFile(src, []byte(told+others), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, cc := range []string{"gcc", "clang"} {
		proctest.Need(t, cc)
		for _, level := range []string{"-O0", "-O1", "-O2"} {
			out := filepath.Join(dir, cc+level)
			if msg, err := exec.Command(cc, level, "-g", "-fno-inline", "-o", out, src).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, msg)
			}
			im, err := image.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			p := Build(im, func(string) bool { return false })
			for _, f := range p.Funcs {
				checkInputs(t, cc+level, p, f)
			}
		}
	}
}

func checkInputs(t *testing.T, how string, p *Program, f *Func) {
	t.Helper()
	_, kind, loops := strings.Cut(f.Name, "_")
	if f.Name == "caller" {
		checkPassed(t, how, p, f)
	}
	want, is := map[string]Input{"alike": 0, "second": 1 << 1}[kind[strings.LastIndex(kind, "_")+1:]]
	data := strings.HasSuffix(kind, "data")
	if !loops || !is && !data {
		return
	}
	g := p.Graph(f, nil)
	in := g.Inputs()
	seen := false
	for i, b := range g.Blocks {
		if b.Loop == nil || !slices.ContainsFunc(b.Succ, func(e *Edge) bool { return e.To == nil || !b.Loop.Has(e.To) }) {
			continue
		}
		seen = true
		if x := in.Branch[i]; data && x&InputKnown != 0 && x&InputData == 0 && x != InputKnown|1 || !data && x != want|InputKnown {
			t.Errorf("%s: %s is left by %#x", how, f.Name, x)
		}
	}
	if !seen {
		t.Errorf("%s: %s has no loop that is left", how, f.Name)
	}
}

// checkPassed: the first call passes what is one for all, the last one data.
func checkPassed(t *testing.T, how string, p *Program, f *Func) {
	t.Helper()
	g := p.Graph(f, nil)
	in := g.Inputs()
	seen := 0
	for _, b := range g.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			want, is := map[string]Input{"rounds_second": InputKnown, "int_second": InputKnown | InputData}[calleeName(c)]
			if !is {
				continue
			}
			seen++
			if x := Input(in.Passes[c.Insn.Addr] >> 8); x != want && x&^1 != want {
				t.Errorf("%s: %s is passed %#x, not %#x", how, c.Callee.Name, x, want)
			}
		}
		for _, a := range TailTargets(b) {
			if h := p.FuncAt(a); h != nil && h.Name == "int_second" {
				if seen++; Input(in.Passes[b.Last().Addr]>>8)&InputData == 0 {
					t.Errorf("%s: the jump to it passes no data", how)
				}
			}
		}
	}
	if seen != 2 {
		t.Errorf("%s: %d calls of two", how, seen)
	}
}

func calleeName(c *Call) string {
	if c.Callee == nil {
		return ""
	}
	return c.Callee.Name
}

// TestInputsOfGotos: an interpreter, whose every operation jumps to any other, is followed in a
// few visits of each block. To follow every change at once took more of them, of which each comes
// to hundreds of others: seconds for one function.
func TestInputsOfGotos(t *testing.T) {
	const n = 60
	var text strings.Builder
	fmt.Fprintf(&text, "long run(const int *code, long *sp, long a, long b, long c) {\nstatic void *const to[] = {")
	for i := range n {
		fmt.Fprintf(&text, "&&l%d,", i)
	}
	text.WriteString("};\nlong d = 1, e = 2, f = 3, g = 4, h = 5;\ngoto *to[*code++];\n")
	for i := range n {
		v := "abcdefgh"
		fmt.Fprintf(&text, "l%d: %c += %c * %d + sp[%d]; if (%c == %d) return %c; goto *to[*code++];\n", i, v[i%8], v[(i+3)%8], i, i, v[i%8], i, v[(i+1)%8])
	}
	text.WriteString("}\nint main(void) { static int code[9]; static long sp[99]; return run(code, sp, 1, 2, 3); }\n")
	src := filepath.Join(t.TempDir(), "gotos.c")
	if err := os.WriteFile(src, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	im, err := image.Open(proctest.Build(t, "gcc", "-O2", "-fno-gcse", "-fno-crossjumping", "-g", src))
	if err != nil {
		t.Fatal(err)
	}
	p := Build(im, func(string) bool { return false })
	g := p.Graph(find(t, p, "run"), nil)
	f := newInputs(g)
	visits, ok := f.follow()
	edges := 0
	for _, b := range g.Blocks {
		edges = max(edges, len(b.Succ))
	}
	if edges < n {
		t.Fatalf("no block jumps to more than %d others", edges)
	}
	if !ok || visits > 6*len(g.Blocks) {
		t.Errorf("%d visits of %d blocks", visits, len(g.Blocks))
	}
}
