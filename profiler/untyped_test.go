package profiler_test

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

const untyped = `#include <stdio.h>
#include <pthread.h>

// Assembly need not say that something is a function, nor where it ends: behind one
// that is too short for a jump it may look like padding.
__asm__(".text\n.p2align 4\n"
	".globl tiny\n.type tiny, @function\ntiny: ret\n.size tiny, . - tiny\n"
	".globl bare\nbare: mov $42, %eax\nret\n"
	".p2align 4\n"
	".globl other\n.type other, @function\nother: ret\n.size other, . - other\n"
	".globl longer\nlonger: push %rbx\nmov %edi, %ebx\nlea 7(%rbx), %eax\nadd %eax, %eax\nsub $3, %eax\nadd $0x12345, %eax\npop %rbx\nret\n"
	".p2align 4\n");

void tiny(void), other(void);
int bare(void), longer(int);

static void *run(void *p) {
	void (*volatile f[])(void) = { tiny, other };
	for (int i = 0; i < 10; i++)
		f[i % 2]();
	printf("%d %d\n", bare(), longer(5));
	return p;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, run, NULL);
	pthread_join(t, NULL);
	run(NULL);
	return 0;
}
`

// TestUntyped: what no symbol says to be code stays as it is.
func TestUntyped(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O0", "-no-pie"}, {"-O2", "-static"}} {
		same(t, proctest.Build(t, "gcc", append(flags, "-g", "-pthread", proctest.Source(t, "untyped.c", untyped))...))
	}
}
