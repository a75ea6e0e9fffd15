/* Where caches are not simulated here, for machines of which this simulator knows nothing,
 * each access is told, in one order for all threads, and simulated by package cachesim
 * beside the program (recording.go). All of them: the front stays empty, so that moved
 * code calls for each.
 *
 * A thread takes the next place in the ring, waits until it is free, and writes what it
 * does there, the word that says so last. Behind its last access it may not make a
 * record before that was counted (recorder.S). */

struct told {
	u64 addr, what;	/* op << 32 | core << 20 | WRITTEN | how often the ring was gone round << 11 | size << 1 | write; 0: not written yet */
};

struct telling {
	u64 next, pad0[7];	/* places that were taken */
	u64 done, pad1[7];	/* accesses that were counted, and whose places are free */
	u64 mask;
	struct told *ring;
};

#define WRITTEN (1UL << 19)

static __attribute__((noinline)) void tells(struct thread *t, u64 addr, u64 size, u32 op, int write)
{
	struct telling *l = t->core->all->telling;
	u64 n = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
	for (u32 k = 1; n - RELAXED(l->done) > l->mask; k++) {
		__asm__ volatile("pause");
		if (k % 64 == 0)
			yield();
	}
	struct told *x = &l->ring[n & l->mask];
	x->addr = addr;
	__atomic_store_n(&x->what, (u64)op << 32 | t->core->id << 20 | WRITTEN | (n / (l->mask + 1) & 255) << 11 | size << 1 | (u64)write, __ATOMIC_RELEASE);
	t->told = n + 1;
}
