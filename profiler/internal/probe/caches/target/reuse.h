/* How far back accesses come, instead of one machine's caches: for each thread, and for
 * all together, by how many other lines of a set have been accessed since the last access
 * to the same (Mattson's stack distance, in 64 sets). A cache of 64 sets and w ways with
 * LRU hits where that is less than w, so one run tells what caches of all sizes would
 * do. Only sizes that double are told apart, and a list of lines in the order of their
 * last use needs one mark for each: where it is used in front, what stands at a mark
 * goes one size up.
 *
 * The front that moved code asks for itself has one line for each of the 64 sets: who
 * accesses that again comes back from nowhere. Writes by others clear it. What all share
 * is behind these fronts, as caches that cores share are behind others of their own: it
 * sees nothing of what goes no farther. */

enum { SIZES = 12, WAYS = 4, EVERYBODY = CORES };

/* What is counted of an access, beside that it hits in all caches, from a size on that
 * is one of the first eleven: */
enum { BEYOND = SIZES, FIRST, LOST, FROM_OTHER };

struct node {	/* a line in the list of a core, or of everybody */
	u64 key;	/* line * 128 + whose */
	u64 holders;	/* in everybody's: cores whose copies no write has taken since */
	u32 before, after, chain, size;
};

struct list {
	u32 first, last, n, pad;
	u32 mark[SIZES];	/* the last that a cache of this size holds */
};

struct reuse {
	u64 used, many;	/* nodes, and how many there may be */
	u64 ops;	/* of everybody they begin behind those */
	struct node *nodes;
	u32 *heads;	/* by set and hash */
	struct list *lists;	/* by set and whose */
};

enum { HEADS = 1 << 14 };	/* for each set */

static inline struct node *nodeNo(struct reuse *r, u32 n)
{
	return &r->nodes[n];
}

static u32 *headFor(struct reuse *r, u64 line, u64 key)
{
	return &r->heads[(line & 63) * HEADS + (key * 0x9E3779B97F4A7C15UL >> 50)];
}

static u32 nodeOf(struct reuse *r, u64 line, u64 whose)
{
	u64 key = line << 7 | whose;
	u32 n = *headFor(r, line, key);
	while (n && nodeNo(r, n)->key != key)
		n = nodeNo(r, n)->chain;
	return n;
}

/* newNode is 0 where there is no room. */
static u32 newNode(struct shared *s, struct reuse *r, u64 line, u64 whose)
{
	u64 key = line << 7 | whose, n = __atomic_add_fetch(&r->used, 1, __ATOMIC_RELAXED);
	if (n >= r->many) {
		__atomic_store_n(&r->used, r->many, __ATOMIC_RELAXED);
		__atomic_or_fetch(&s->trouble, 8, __ATOMIC_RELAXED);
		return 0;
	}
	u32 *head = headFor(r, line, key);
	struct node *x = nodeNo(r, n);
	x->key = key;
	x->chain = *head;
	*head = n;
	return n;
}

/* passes lets those at the marks of smaller sizes than one go one size up, since
 * something comes in front of them from behind. */
static inline void passes(struct reuse *r, struct list *l, u32 size)
{
	for (u32 i = 0; i < size; i++) {
		struct node *x = nodeNo(r, l->mark[i]);
		x->size++;
		l->mark[i] = x->before;
	}
}

static inline void putFirst(struct reuse *r, struct list *l, u32 n)
{
	struct node *x = nodeNo(r, n);
	x->before = 0, x->after = l->first, x->size = 0;
	if (l->first)
		nodeNo(r, l->first)->before = n;
	else
		l->last = n;
	l->first = n;
}

/* enters puts a new node in front. */
static void enters(struct reuse *r, struct list *l, u32 n)
{
	u32 full = 0;
	while (full < SIZES && l->n >= (u32)WAYS << full)
		full++;
	passes(r, l, full);
	putFirst(r, l, n);
	l->n++;
	if (full < SIZES && l->n == (u32)WAYS << full)
		l->mark[full] = l->last;
}

/* again puts a node in front, and returns the size that it was found in. */
static u32 again(struct reuse *r, struct list *l, u32 n)
{
	struct node *x = nodeNo(r, n);
	u32 size = x->size;
	if (l->first == n)
		return 0;
	passes(r, l, size);
	if (size < SIZES && l->mark[size] == n)
		l->mark[size] = x->before;
	nodeNo(r, x->before)->after = x->after;
	if (x->after)
		nodeNo(r, x->after)->before = x->before;
	else
		l->last = x->before;
	putFirst(r, l, n);
	return size;
}

static inline struct list *listOf(struct reuse *r, u64 line, u64 whose)
{
	return &r->lists[(line & 63) * (CORES + 1) + whose];
}

/* reused is how far back an access of one line comes, for its core, and for all. */
static void reused(struct shared *s, struct core *me, u64 line, int write, u32 *own, u32 *shared)
{
	struct reuse *r = s->reuse;
	struct shard *h = &s->shard[line & s->shardMask];
	u64 mine = 1UL << me->id;
	lock(s, &h->lock);
	u32 all = nodeOf(r, line, EVERYBODY), n = nodeOf(r, line, me->id);
	*shared = all ? again(r, listOf(r, line, EVERYBODY), all) : FIRST;
	if (!all && (all = newNode(s, r, line, EVERYBODY)))
		nodeNo(r, all)->holders = 0, enters(r, listOf(r, line, EVERYBODY), all);
	struct node *x = nodeNo(r, all);
	*own = n ? again(r, listOf(r, line, me->id), n) : *shared != FIRST ? FROM_OTHER : FIRST;
	if (n && all && !(x->holders & mine))
		*own = LOST;
	if (!n && (n = newNode(s, r, line, me->id)))
		enters(r, listOf(r, line, me->id), n);
	for (u64 o = all ? x->holders & ~mine : 0; o; o &= o - 1) {
		u64 *f = frontOf(s, &s->core[__builtin_ctzl(o)], line);
		if (f[FIRST_READ] == line)	/* its next write, and after mine its next read, are told */
			f[FIRST_WRITTEN] = 0, f[FIRST_READ] = write ? 0 : line;
	}
	if (all)
		x->holders = write ? mine : x->holders | mine;
	u64 *f = frontOf(s, me, line);
	f[FIRST_READ] = all && n ? line : 0;
	f[FIRST_WRITTEN] = all && n && x->holders == mine ? line : 0;
	unlock(&h->lock);
}
