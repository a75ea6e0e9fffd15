/* What an access of moved code does that is not to the line used last in its
 * set: the caches of all cores, by the rules of package cachesim, which is its
 * oracle. It runs in the target, in the thread that makes the access, on its
 * stack and below its red zone. It keeps every register but the flags, which
 * moved code keeps itself where they matter.
 *
 * Position-independent; everything that it needs hangs on the word of the
 * thread's area that GS points to. area.go has the same structures.
 *
 * Locks: the state of a line, in all caches, in the directory and in the last
 * level, belongs to its shard; a core's rows of the first level also to the core,
 * so that a hit there asks for its own lock alone. Shards come before cores.
 */

typedef unsigned long u64;
typedef unsigned u32;

enum { CORES = 64, SHARDS = 64, EPOCHS = 4 };

/* A line's state in a private cache, beside its number: line << 2 | state. The tag
 * of an invalid line stays where it is until it is evicted. WATCHED is exclusive
 * as WRITABLE is, but somebody has lost the line and may come back, so what is
 * written to it is noted. */
enum { INVALID, SHARED, WATCHED, WRITABLE, STATE = 3 };

/* Who served an access, and why its line was not there: 5 * level + kind. */
enum { HIT = -1, FROM_L2 = 0, FROM_L3 = 5, FROM_MEMORY = 10, UPGRADE = 15, CLASSES = 16 };
enum { COLD, CAPACITY, CONFLICT, TRUE_SHARING, FALSE_SHARING };

struct core {
	struct shared *all;
	u64 id;
	u64 *front;	/* of the thread that has the core: by set, the line used last, as far as it may be read, and written */
	u64 *rows1, *last1, *rows2, *last2;
	u32 lock, pad;
};

struct epoch {
	u64 mask, losers;
	u32 op, writer;
};

struct contended {
	struct epoch of[EPOCHS];	/* the newest last */
	u32 n, next;
};

struct entry {
	u64 line, holders;	/* line 0: none */
	u32 next, contended;	/* numbers, from 1 */
	u64 pad;
};

struct shard {
	u32 lock, freeEntry, usedEntries, freeContended, usedContended, pad[11];
};

struct partner {
	u32 op, votes;
	u64 writers;
};

struct seen {
	u64 key, lines;
};

struct shared {
	u64 shift, mask1, mask2, mask3, ways1, ways2, ways3, shardMask;
	u64 tableMask, perShard;	/* entries by line, and how many more each shard has */
	u64 seenMask;
	u64 *rows3, *last3;
	struct entry *table;	/* by line: neighbours lie together */
	struct entry *more;	/* of lines whose places are taken */
	struct contended *contended;
	struct seen *seen;
	struct partner *partners;
	u64 trouble;	/* 1: no room in the directory, 2: none for who has seen what, 4: a lock was never given back */
	u64 accesses;	/* that signals' handlers made on the way, and that were left out */
	u64 many;	/* there is more than one thread, or was */
	struct core core[CORES];
	struct shard shard[SHARDS];
};

_Static_assert(__builtin_offsetof(struct shared, core) == 21 * 8 && sizeof(struct core) == 64 && sizeof(struct entry) == 32 &&
	sizeof(struct contended) == 104 && sizeof(struct shard) == 64, "caches.go has them so");

struct thread {	/* of the area that GS points to, from CORE on */
	struct core *core;
	u64 *misses;	/* CLASSES for each op */
	u64 *live;	/* bits: which eights of counters may be other than 0 */
	u64 firstLive;	/* of the misses */
	u64 inside;
};

struct access {
	u64 line, bytes;
	u32 op;
	int write, class, upgrade;
	struct entry *entry;
	u32 by, writer;	/* who took the line away, where that is the reason */
};

/* What moved code calls: at 0 for a read, at 64 for a write, at 128 for ranges. */

#define ENTRY(write)                                                     \
	"	.p2align 6\n"                                            \
	"	push %rax\n	push %rcx\n	push %rdx\n	push %rsi\n"     \
	"	push %rdi\n	push %r8\n	push %r9\n	push %r10\n"     \
	"	push %r11\n"                                             \
	"	mov %rsp, %rsi\n"                                        \
	"	mov $" #write ", %edx\n"                                 \
	"	jmp 1f\n"

__asm__(".text\n"
	ENTRY(0)
	ENTRY(1)
	ENTRY(2)
	"	.p2align 6\n"
	"1:	mov %gs:0x198, %rdi\n"	/* threadarea.OffCaches */
	"	call one\n"
	"	pop %r11\n	pop %r10\n	pop %r9\n	pop %r8\n"
	"	pop %rdi\n	pop %rsi\n	pop %rdx\n	pop %rcx\n"
	"	pop %rax\n"
	"	ret $8\n");

#define RELAXED(x) (*(volatile __typeof__(x) *)&(x))

static void yield(void)
{
	u64 n = 24;	/* sched_yield */
	__asm__ volatile("syscall" : "+a"(n) : : "rcx", "r11", "memory");
}

static void spin(struct shared *s, u32 *l)
{
	for (u32 n = 1; RELAXED(*l) || __atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE); n++) {
		__asm__ volatile("pause");
		if (n % 64 == 0)
			yield();
		if (n == 1 << 24) {
			__atomic_or_fetch(&s->trouble, 4, __ATOMIC_RELAXED);
			return;
		}
	}
}

static inline void lock(struct shared *s, u32 *l)
{
	if (s->many && __atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE))
		spin(s, l);
}

static inline void unlock(u32 *l)
{
	__atomic_store_n(l, 0, __ATOMIC_RELEASE);
}

/* Rows: the line used last first. */

static inline int at(u64 *row, u64 ways, u64 line)
{
	line <<= 2;
	for (u64 i = 0; i < ways; i++)
		if ((row[i] ^ line) <= STATE)
			return i;
	return -1;
}

static inline void toFront(u64 *row, int i, u64 v)
{
	for (; i > 0; i--)
		row[i] = row[i - 1];
	row[0] = v;
}

static void removeAt(u64 *row, u64 ways, int i)
{
	for (; i + 1 < (int)ways; i++)
		row[i] = row[i + 1];
	row[i] = 0;
}

static inline u64 *rowOf(u64 *rows, u64 mask, u64 ways, u64 line)
{
	return rows + (line & mask) * ways;
}

/* show tells moved code which line was used last in a set of the first level. */
static inline void show(struct shared *s, struct core *c, u64 set, u64 v)
{
	u64 *f = (u64 *)((char *)c->front + (set << s->shift));
	f[0] = v & STATE ? v >> 2 : 0;
	f[1] = (v & STATE) == WRITABLE ? v >> 2 : 0;
}

/* setState changes the state of a line that a core may hold. */
static void setState(struct shared *s, struct core *c, u64 line, u64 state)
{
	u64 *row = rowOf(c->rows1, s->mask1, s->ways1, line);
	lock(s, &c->lock);
	int i = at(row, s->ways1, line);
	if (i >= 0 && row[i] & STATE) {
		row[i] = line << 2 | state;
		if (i == 0)
			show(s, c, line & s->mask1, row[0]);
	}
	unlock(&c->lock);
	if (s->ways2) {
		row = rowOf(c->rows2, s->mask2, s->ways2, line);
		i = at(row, s->ways2, line);
		if (i >= 0 && row[i] & STATE)
			row[i] = line << 2 | state;
	}
}

/* The directory: an entry for each line that some core holds, or has lost. There is
 * none as long as one core is alone. */

static struct entry *entryNo(struct shared *s, u64 line, u32 n)
{
	return &s->more[(line & s->shardMask) * s->perShard + n - 1];
}

static struct contended *contendedNo(struct shared *s, u64 line, u32 n)
{
	return &s->contended[(line & s->shardMask) * s->perShard + n - 1];
}

static struct entry *find(struct shared *s, u64 line, int make)
{
	struct entry *first = &s->table[line & s->tableMask], *e = first;
	if (e->line == line)
		return e;
	for (u32 n = first->next; n; n = e->next) {
		e = entryNo(s, line, n);
		if (e->line == line)
			return e;
	}
	if (!make)
		return 0;
	e = first;
	if (e->line) {
		struct shard *h = &s->shard[line & s->shardMask];
		u32 n = h->freeEntry;
		if (n)
			h->freeEntry = entryNo(s, line, n)->next;
		else if (h->usedEntries < s->perShard)
			n = ++h->usedEntries;
		else {
			__atomic_or_fetch(&s->trouble, 1, __ATOMIC_RELAXED);
			return 0;
		}
		e = entryNo(s, line, n);
		e->next = first->next;
		first->next = n;
	}
	e->line = line, e->holders = 0, e->contended = 0;
	return e;
}

/* forgiven drops the record of who lost a line when nobody may come back. */
static void forgiven(struct shared *s, struct entry *e)
{
	u64 losers = 0;
	if (!e->contended)
		return;
	struct shard *h = &s->shard[e->line & s->shardMask];
	struct contended *c = contendedNo(s, e->line, e->contended);
	for (u32 i = 0; i < c->n; i++)
		losers |= c->of[i].losers;
	if (losers)
		return;
	c->next = h->freeContended;
	h->freeContended = e->contended;
	e->contended = 0;
}

/* settle drops what nobody needs of a line, also its entry when nobody holds it. */
static void settle(struct shared *s, struct entry *e)
{
	u64 line = e->line;
	struct shard *h = &s->shard[line & s->shardMask];
	forgiven(s, e);
	if (e->holders || e->contended)
		return;
	e->line = 0;
	struct entry *p = &s->table[line & s->tableMask];
	if (e == p)
		return;
	while (entryNo(s, line, p->next) != e)
		p = entryNo(s, line, p->next);
	u32 n = p->next;
	p->next = e->next;
	e->next = h->freeEntry;
	h->freeEntry = n;
}

static void epoch(struct shared *s, struct core *me, struct access *a, u64 losers)
{
	struct entry *e = a->entry;
	struct shard *h = &s->shard[a->line & s->shardMask];
	if (!e->contended) {
		u32 n = h->freeContended;
		if (n)
			h->freeContended = contendedNo(s, a->line, n)->next;
		else if (h->usedContended < s->perShard)
			n = ++h->usedContended;
		else {
			__atomic_or_fetch(&s->trouble, 1, __ATOMIC_RELAXED);
			return;
		}
		contendedNo(s, a->line, n)->n = 0;
		e->contended = n;
	}
	struct contended *c = contendedNo(s, a->line, e->contended);
	if (c->n == EPOCHS) {
		c->of[1].mask |= c->of[0].mask;
		c->of[1].losers |= c->of[0].losers;
		for (u32 i = 1; i < EPOCHS; i++) {
			c->of[i - 1].mask = c->of[i].mask, c->of[i - 1].losers = c->of[i].losers;
			c->of[i - 1].op = c->of[i].op, c->of[i - 1].writer = c->of[i].writer;
		}
		c->n--;
	}
	struct epoch *p = &c->of[c->n++];
	p->mask = a->bytes, p->losers = losers, p->op = a->op, p->writer = me->id;
}

/* written notes a write to a line that I have alone, and says how I have it from
 * now on. */
static u64 written(struct shared *s, struct core *me, struct access *a)
{
	struct entry *e = a->entry;
	if (!e || !e->contended)
		return WRITABLE;
	struct contended *c = contendedNo(s, a->line, e->contended);
	struct epoch *p = &c->of[c->n - 1];
	if (p->writer != me->id) {
		epoch(s, me, a, 0);
		p = &c->of[c->n - 1];
	}
	p->mask |= a->bytes;
	p->op = a->op;
	return WATCHED;
}

/* forgets: a core that has lost a line will not come back for it. */
static void forgets(struct shared *s, struct core *me, struct entry *e)
{
	if (!e || !e->contended)
		return;
	struct contended *c = contendedNo(s, e->line, e->contended);
	for (u32 i = 0; i < c->n; i++)
		c->of[i].losers &= ~(1UL << me->id);
}

/* sharing is why a core had lost a line that it comes back for. */
static int sharing(struct shared *s, struct core *me, struct access *a)
{
	struct entry *e = a->entry;
	if (!e || !e->contended)
		return TRUE_SHARING;
	struct contended *c = contendedNo(s, a->line, e->contended);
	u64 mask = 0, mine = 1UL << me->id;
	u32 i = 0;
	while (i < c->n && !(c->of[i].losers & mine))
		i++;
	if (i == c->n)
		i = 0;
	for (u32 k = i; k < c->n; k++)
		if (c->of[k].writer != me->id)
			mask |= c->of[k].mask;
	u32 by = c->n - 1;
	if (mask & a->bytes)
		while (by > i && (c->of[by].writer == me->id || !(c->of[by].mask & a->bytes)))
			by--;
	a->by = c->of[by].op, a->writer = c->of[by].writer;
	forgets(s, me, e);
	return mask & a->bytes ? TRUE_SHARING : FALSE_SHARING;
}

/* takes lets me have a line alone: the others lose it. */
static void takes(struct shared *s, struct core *me, struct access *a)
{
	u64 others = a->entry ? a->entry->holders & ~(1UL << me->id) : 0;
	for (u64 o = others; o; o &= o - 1)
		setState(s, &s->core[__builtin_ctzl(o)], a->line, INVALID);
	if (others)
		epoch(s, me, a, others);
	if (a->entry)
		a->entry->holders = 1UL << me->id;
}

/* leaves: a tag was evicted from my outermost private cache. */
static void leaves(struct shared *s, struct core *me, u64 tag)
{
	struct entry *e = s->many ? find(s, tag >> 2, 0) : 0;
	if (!e)
		return;
	if (tag & STATE)
		e->holders &= ~(1UL << me->id);
	else
		forgets(s, me, e);
	settle(s, e);
}

/* sawBefore reports whether a core has touched a line, and notes that it has. */
static int sawBefore(struct shared *s, struct core *me, u64 line)
{
	u64 page = line >> 6, bit = 1UL << (line & 63), key = (page + 1) << 6 | me->id;
	u64 i = ((page >> 5) * CORES + me->id) * 0x9E3779B97F4A7C15UL >> 24 << 5 | (page & 31);
	for (u32 n = 0; n < 4096; n++, i++) {
		struct seen *x = &s->seen[i & s->seenMask];
		u64 k = RELAXED(x->key);
		if (!k && __atomic_compare_exchange_n(&x->key, &k, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			k = key;
		if (k == key) {
			int was = (x->lines & bit) != 0;
			x->lines |= bit;
			return was;
		}
	}
	__atomic_or_fetch(&s->trouble, 2, __ATOMIC_RELAXED);
	return 1;
}

static int lookUp3(struct shared *s, u64 line, int *conflict)
{
	*conflict = 0;
	if (!s->ways3)
		return 0;
	u64 *row = rowOf(s->rows3, s->mask3, s->ways3, line);
	int i = at(row, s->ways3, line);
	if (i >= 0) {
		toFront(row, i, line << 2);
		return 1;
	}
	u64 *last = &s->last3[line & s->mask3];
	*conflict = *last == line;
	if (row[s->ways3 - 1])
		*last = row[s->ways3 - 1] >> 2;
	toFront(row, s->ways3 - 1, line << 2);
	return 0;
}

/* fetch gets a line that none of my caches holds. lost: a tag of it says that I
 * had it. state is how I have it now. */
static int fetch(struct shared *s, struct core *me, struct access *a, int lost, int conflict, u64 *state)
{
	int kind = COLD, conflict3;
	struct entry *e = a->entry = s->many ? find(s, a->line, 1) : 0;
	u64 mine = 1UL << me->id, others = e ? e->holders & ~mine : 0;
	int hit3 = lookUp3(s, a->line, &conflict3);
	int saw = (hit3 && !s->many) || sawBefore(s, me, a->line);
	if (lost) {
		kind = sharing(s, me, a);
		if (e)
			forgiven(s, e);
	}
	int level = hit3 || (others && s->ways3) ? FROM_L3 : FROM_MEMORY;
	if (!lost && saw)
		kind = (level == FROM_MEMORY && s->ways3 ? conflict3 : conflict) ? CONFLICT : CAPACITY;
	if (a->write) {
		takes(s, me, a);
		*state = written(s, me, a);
	} else {
		for (u64 o = others; o; o &= o - 1)
			setState(s, &s->core[__builtin_ctzl(o)], a->line, SHARED);
		if (e)
			e->holders |= mine;
		*state = others ? SHARED : e && e->contended ? WATCHED : WRITABLE;
	}
	if (e)
		settle(s, e);
	return level + kind;
}

/* miss1 is an access to a line that is not in my first level, where it may have
 * left a tag at i. */
static int miss1(struct shared *s, struct core *me, struct access *a, int i)
{
	u64 set1 = a->line & s->mask1, *row1 = rowOf(me->rows1, s->mask1, s->ways1, a->line), state;
	int class, k = -1, conflict1 = me->last1[set1] == a->line;
	if (s->ways2) {
		u64 set2 = a->line & s->mask2, *row2 = rowOf(me->rows2, s->mask2, s->ways2, a->line);
		k = at(row2, s->ways2, a->line);
		if (k >= 0 && row2[k] & STATE) {
			class = FROM_L2 + (conflict1 ? CONFLICT : CAPACITY);
			state = row2[k] & STATE;
			if (a->write && state != WRITABLE) {
				a->entry = find(s, a->line, 1);
				if (state == SHARED)
					takes(s, me, a), a->upgrade = 1;
				state = written(s, me, a);
			}
		} else {
			class = fetch(s, me, a, k >= 0, me->last2[set2] == a->line, &state);
		}
		if (k < 0) {
			k = s->ways2 - 1;
			u64 victim = row2[k];
			if (victim) {
				u64 *row = rowOf(me->rows1, s->mask1, s->ways1, victim >> 2);
				me->last2[set2] = victim >> 2;
				lock(s, &me->lock);
				int j = at(row, s->ways1, victim >> 2);
				if (j >= 0) {
					removeAt(row, s->ways1, j);
					show(s, me, (victim >> 2) & s->mask1, row[0]);
				}
				unlock(&me->lock);
				leaves(s, me, victim);
				i = at(row1, s->ways1, a->line);
			}
		}
		toFront(row2, k, a->line << 2 | state);
	} else {
		class = fetch(s, me, a, i >= 0, conflict1, &state);
	}
	lock(s, &me->lock);
	if (i < 0) {
		i = s->ways1 - 1;
		if (row1[i]) {
			me->last1[set1] = row1[i] >> 2;
			if (!s->ways2)
				leaves(s, me, row1[i]);
		}
	}
	toFront(row1, i, a->line << 2 | state);
	show(s, me, set1, row1[0]);
	unlock(&me->lock);
	return class;
}

/* inMy2 gives the second level's copy the state of the first one's. */
static void inMy2(struct shared *s, struct core *me, u64 line, u64 state)
{
	if (!s->ways2)
		return;
	u64 *row = rowOf(me->rows2, s->mask2, s->ways2, line);
	int i = at(row, s->ways2, line);
	if (i >= 0)
		row[i] = line << 2 | state;
}

/* fetchRows has the processor fetch what a miss will need. */
static inline void fetchRows(struct shared *s, struct core *me, u64 line)
{
	if (s->ways2) {
		u64 *row = rowOf(me->rows2, s->mask2, s->ways2, line);
		__builtin_prefetch(row, 1);
		__builtin_prefetch(row + s->ways2 - 1, 1);
		__builtin_prefetch(&me->last2[line & s->mask2], 1);
	}
	if (s->ways3) {
		u64 *row = rowOf(s->rows3, s->mask3, s->ways3, line);
		__builtin_prefetch(row, 1);
		__builtin_prefetch(row + s->ways3 - 1, 1);
		__builtin_prefetch(&s->last3[line & s->mask3], 1);
	}
	if (s->many)
		__builtin_prefetch(&s->table[line & s->tableMask], 1);
}

/* hits reports whether a line is in my first level as the access wants it, and is
 * then the one used last. */
static inline int hits(struct shared *s, struct core *me, u64 line, u64 state)
{
	u64 *row = rowOf(me->rows1, s->mask1, s->ways1, line);
	lock(s, &me->lock);
	int i = at(row, s->ways1, line);
	int is = i >= 0 && (row[i] & STATE) >= state;
	if (is) {
		toFront(row, i, row[i]);
		show(s, me, line & s->mask1, row[0]);
	}
	unlock(&me->lock);
	return is;
}

static __attribute__((noinline)) int touch(struct shared *s, struct core *me, struct access *a)
{
	struct shard *h = &s->shard[a->line & s->shardMask];
	fetchRows(s, me, a->line);
	lock(s, &h->lock);
	int class = HIT;
	u64 *row = rowOf(me->rows1, s->mask1, s->ways1, a->line);
	int i = at(row, s->ways1, a->line);
	u64 state = i >= 0 ? row[i] & STATE : INVALID;
	if (state == INVALID) {
		class = miss1(s, me, a, i);
	} else {
		if (a->write && state != WRITABLE) {
			a->entry = find(s, a->line, 1);
			if (state == SHARED)
				takes(s, me, a), a->upgrade = 1;
			state = written(s, me, a);
			inMy2(s, me, a->line, state);
		}
		lock(s, &me->lock);
		toFront(row, i, a->line << 2 | state);
		show(s, me, a->line & s->mask1, row[0]);
		unlock(&me->lock);
	}
	unlock(&h->lock);
	return class;
}

static void count(struct thread *t, u64 n)
{
	t->misses[n]++;
	u64 bit = t->firstLive + n / 8, *word = &t->live[bit / 64];
	if (!(RELAXED(*word) >> bit % 64 & 1))
		__atomic_or_fetch(word, 1UL << bit % 64, __ATOMIC_RELAXED);
}

/* bytesOf is which bytes of a line, or of larger ones which parts, an access is to. */
static u64 bytesOf(struct shared *s, u64 line, u64 from, u64 to)
{
	u64 base = line << s->shift, granule = s->shift > 6 ? s->shift - 6 : 0;
	u64 lo = from > base ? (from - base) >> granule : 0;
	u64 hi = (to >> s->shift == line ? to - base : (1UL << s->shift) - 1) >> granule;
	return (hi == 63 ? ~0UL : (1UL << (hi + 1)) - 1) & ~((1UL << lo) - 1);
}

/* blame notes whose write took a line away: by Boyer and Moore, who has most votes. */
static void blame(struct shared *s, struct access *a)
{
	struct partner *p = &s->partners[a->op];
	if (p->op == a->by + 1)
		p->votes++;
	else if (p->votes)
		p->votes--;
	else
		p->op = a->by + 1, p->votes = 1;
	__atomic_or_fetch(&p->writers, 1UL << a->writer, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void access(struct thread *t, u64 addr, u64 size, u32 op, int write)
{
	struct core *me = t->core;
	struct shared *s = me->all;
	u64 last = (addr + size - 1) >> s->shift, wanted = write ? WRITABLE : SHARED;
	struct access worst = {.op = op, .class = HIT};	/* of several lines, that from farthest off */
	for (u64 first = addr >> s->shift, line = first; line <= last; line++) {
		struct access a = {.line = line, .bytes = bytesOf(s, line, addr, addr + size - 1), .op = op, .write = write};
		a.class = hits(s, me, line, wanted) ? HIT : touch(s, me, &a);
		if (line == first || (a.class >= 0 && (worst.class < 0 || a.class / 5 > worst.class / 5)))
			worst = a;
	}
	if (worst.class >= 0) {
		count(t, (u64)op * CLASSES + worst.class);
		if (worst.class % 5 >= TRUE_SHARING)
			blame(s, &worst);
	}
	if (worst.upgrade)
		count(t, (u64)op * CLASSES + UPGRADE);
}

/* The address is pushed before the call (0 for ranges), and behind the call stands
 * "test $n, %eax", where n is op << 8 and how many bytes, or what ranges. */
struct frame {
	u64 r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax, returns, address;
};

/* What the low bits of n say of ranges: who is about to access them. The bits above
 * are the logarithm of the size of an element. */
enum { MEMSET, MEMCPY, BZERO, STOS, MOVS, SHAPE = 15 };

static void range(struct thread *t, struct frame *f, u32 n)
{
	u64 to = f->rdi, from = f->rsi, size = f->rdx;
	u32 op = n >> 8, shape = n & SHAPE, copies = shape == MEMCPY || shape == MOVS;
	u64 line = 1UL << t->core->all->shift;
	if (shape == BZERO)
		size = f->rsi;
	if (shape == STOS || shape == MOVS)
		size = f->rcx << (n >> 4 & 15);
	for (u64 i = 0, step; i < size; i += step) {
		u64 at = (copies ? from : to) + i;
		step = line - (at & (line - 1));
		if (step > size - i)
			step = size - i;
		if (copies)
			access(t, from + i, step, op, 0);
		access(t, to + i, step, op + copies, 1);
	}
}

__attribute__((used)) static void one(struct thread *t, struct frame *f, u64 what)
{
	if (!t)	/* a forked child */
		return;
	struct core *me = t->core;
	struct shared *s = me->all;
	if (t->inside) {
		__atomic_add_fetch(&s->accesses, 1, __ATOMIC_RELAXED);
		return;
	}
	t->inside = 1;
	__asm__ volatile("" : : : "memory");
	u32 n = *(u32 *)(f->returns + 1);
	u64 addr = f->address, size = n & 255, line = addr >> s->shift;
	if (what == 2)
		range(t, f, n);
	else if ((addr + size - 1) >> s->shift != line || !hits(s, me, line, what ? WRITABLE : SHARED))
		access(t, addr, size, n >> 8, what);
	__asm__ volatile("" : : : "memory");
	t->inside = 0;
}
