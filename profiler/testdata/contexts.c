// Calls that come back when somebody else wants it, if ever.
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static volatile int sink;

#ifdef OWN
typedef struct { void *sp; } place;
void go(place *from, place *to);
__asm__(".text\n.type go, @function\ngo:\n\tpush %rbp\n\tpush %rbx\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\tmov %rsp, (%rdi)\n\tmov (%rsi), %rsp\n"
	"\tpop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbx\n\tpop %rbp\n\tret\n\t.size go, .-go\n");
static void make(place *p, char *stack, long size, void (*f)(void))
{
	void **sp = (void **)(((long)stack + size) & ~15L);
	*--sp = 0;
	*--sp = f;
	p->sp = sp - 6;
}
#else
typedef ucontext_t place;
static void go(place *from, place *to) { swapcontext(from, to); }
static void make(place *p, char *stack, long size, void (*f)(void))
{
	getcontext(p);
	p->uc_stack.ss_sp = stack;
	p->uc_stack.ss_size = size;
	makecontext(p, f, 0);
}
#endif

static place home, away;
static void (*volatile leave)(place *, place *) = go;

static void generator(void)
{
	for (int i = 0;; i++) {
		sink = i;
		go(&away, &home);
	}
}

__attribute__((noinline)) static void final(int n)
{
	sink = n;
	leave(&away, &home);
	sink = -1;
	puts("never");
	abort();
}

static void task(void) { final(sink + 1); }

__attribute__((noinline)) static int next(int n)
{
	if (n % 3) {
		go(&home, &away);
		return sink;
	}
	return 0;
}

int main(void)
{
	static char stack[65536];
	int s = 0;
	make(&away, stack, sizeof stack, generator);
	for (int i = 0; i < 200; i++)
		s += next(i);
	for (int i = 0; i < 200; i++) {
		make(&away, stack, sizeof stack, task);
		leave(&home, &away);
		s += sink;
	}
	printf("%d\n", s);
	return 0;
}
