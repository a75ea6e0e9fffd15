package profiler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// everyGoto is a program of n labels, each with a goto to any of them, as an interpreter with as
// many instructions: n times n ways, every one of which is on a way round. The function is
// one in which threads might meet.
func everyGoto(n int) string {
	var b strings.Builder
	b.WriteString(`
		#include <pthread.h>
		#include <stdio.h>
		static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
		__attribute__((noinline)) static unsigned go(unsigned x, long n) {
			static const void *const to[] = {`)
	for i := range n {
		fmt.Fprintf(&b, "&&L%d,", i)
	}
	b.WriteString("};\npthread_mutex_lock(&m); pthread_mutex_unlock(&m); goto *to[x];\n")
	for i := range n {
		fmt.Fprintf(&b, "L%d: if (n-- == 0) return x; x = (x * 5 + %d) %% %d; goto *to[x];\n", i, 2*i+1, n)
	}
	b.WriteString(`
		}
		static void *work(void *p) {
			return (void *)(long)go((long)p, 100000 * (long)p);
		}
		int main(void) {
			pthread_t t[4];
			for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
			for (int i = 0; i < 4; i++) { void *r; pthread_join(t[i], &r); printf("%ld\n", (long)r); }
		}`)
	return b.String()
}

// TestEveryGoto: what a thousand gotos to a thousand labels each are analysed in is not
// the third power of these: that took as long as no one waits, before the program began.
func TestEveryGoto(t *testing.T) {
	src := proctest.Source(t, "everygoto.c", everyGoto(1100))
	timer := time.AfterFunc(3*time.Minute, func() { panic(t.Name() + " hangs") })
	defer timer.Stop()
	prog := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", src)
	same(t, prog)
}
