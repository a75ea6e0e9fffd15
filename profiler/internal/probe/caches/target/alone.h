/* The caches as long as there is one thread: all lines that are anywhere may be
 * written, and there is nobody to lose one to. The first level is lists in the rows; where
 * the others are lists, too, a miss takes all registers for vectors that it needs once, and
 * gives them back once. */

#define UNROLLED _Pragma("GCC unroll 8")

/* rowIn is a line's set's row: lines have 64 bytes here. */
static inline u64 *rowIn(struct core *me, u64 line)
{
	return me->front + ROW * (line & me->mask1);
}

/* restOf is those of a line's set which have no room in its row, and restOfSet how many
 * these are. */
static inline u64 *restOf(struct core *me, u64 line, u64 ways)
{
	return me->tags1 + (line & me->mask1) * ways;
}

static inline u64 restOfSet(u64 ways)
{
	return ways > IN_ROW ? ways - IN_ROW : 0;
}

/* toFront puts a line in front of those of its row, and returns the one that has no room
 * there any more. */
static inline u64 toFront(u64 *f, u64 line)
{
	u64 gone = f[ROW - 1];
	UNROLLED for (u32 i = ROW - 1; i > SECOND; i--)
		f[i] = f[i - 1];
	f[SECOND] = f[FIRST_READ];
	f[FIRST_READ] = f[FIRST_WRITTEN] = line;
	return gone;
}

/* inRow puts a line in front that is in its row, if it is. */
static inline int inRow(u64 *f, u64 line)
{
	u32 i = SECOND;
	if (f[FIRST_READ] == line)
		return 1;
	while (i < ROW && f[i] != line)
		i++;
	if (i == ROW)
		return 0;
	for (u32 gone = i; gone > SECOND; gone--)
		f[gone] = f[gone - 1];
	f[SECOND] = f[FIRST_READ];
	f[FIRST_READ] = f[FIRST_WRITTEN] = line;
	return 1;
}

/* inRest puts a line in front that is in the rest of its set, if it is. */
static inline int inRest(u64 *f, u64 *rest, u64 n, u64 line)
{
	for (u64 k = 0; k < n; k++)
		if (rest[k] == line) {
			for (; k; k--)
				rest[k] = rest[k - 1];
			rest[0] = toFront(f, line);
			return 1;
		}
	return 0;
}

/* enters1 puts a line in front that is not in the set, and returns the one that must go. */
static inline u64 enters1(u64 *f, u64 *rest, u64 line, u64 ways)
{
	u64 goes = toFront(f, line);
	if (ways < IN_ROW) {
		goes = f[ways + 1];
		f[ways + 1] = 0;
		return goes;
	}
	for (u64 k = 0; k < restOfSet(ways); k++) {
		u64 next = rest[k];
		rest[k] = goes;
		goes = next;
	}
	return goes;
}

/* leaves1 takes a line out of the list of its set. */
static __attribute__((noinline)) void leaves1(struct core *me, u64 line)
{
	u64 *f = rowIn(me, line), *rest = restOf(me, line, me->perSet1);
	u32 i = SECOND, k = 0, n = restOfSet(me->perSet1);
	if (f[FIRST_READ] == line) {
		f[FIRST_READ] = f[FIRST_WRITTEN] = f[SECOND];
	} else {
		while (i < ROW && f[i] != line)
			i++;
		if (i == ROW)
			while (k < n && rest[k] != line)
				k++;
		if (i == ROW && k == n)
			return;
	}
	for (; i < ROW; i++)
		f[i] = i + 1 < ROW ? f[i + 1] : n ? rest[0] : 0;
	for (; k < n; k++)
		rest[k] = k + 1 < n ? rest[k + 1] : 0;
}

/* forgets1 does so if it is there, which it seldom is. */
static inline void forgets1(struct core *me, u64 line, u64 ways)
{
	u64 *f = rowIn(me, line), *rest = restOf(me, line, ways);
	if (f[FIRST_READ] == line || f[SECOND] == line || f[SECOND + 1] == line || f[SECOND + 2] == line ||
	    f[SECOND + 3] == line || f[SECOND + 4] == line || f[SECOND + 5] == line)
		leaves1(me, line);
	for (u64 k = 0; k < restOfSet(ways); k++)
		if (rest[k] == line) {
			leaves1(me, line);
			return;
		}
}

#define VECTORS "movups %%xmm0, (%[kept])\n	movups %%xmm1, 16(%[kept])\n	" \
	"movups %%xmm2, 32(%[kept])\n	movups %%xmm3, 48(%[kept])\n"
#define VECTORS_BACK "movups (%[kept]), %%xmm0\n	movups 16(%[kept]), %%xmm1\n	" \
	"movups 32(%[kept]), %%xmm2\n	movups 48(%[kept]), %%xmm3\n"

/* sameIn has a bit for each member of a list that is a given one: there is one at most. */
static inline u32 sameIn(u32 *set, u32 member, u32 ways)
{
	u32 same;
	if (ways > LISTED / 2)
		__asm__ volatile("movd %[member], %%xmm0\n	pshufd $0, %%xmm0, %%xmm0\n"
			"	movdqa %%xmm0, %%xmm1\n	movdqa %%xmm0, %%xmm2\n	movdqa %%xmm0, %%xmm3\n"
			"	pcmpeqd (%[set]), %%xmm0\n	pcmpeqd 16(%[set]), %%xmm1\n"
			"	pcmpeqd 32(%[set]), %%xmm2\n	pcmpeqd 48(%[set]), %%xmm3\n"
			"	packssdw %%xmm1, %%xmm0\n	packssdw %%xmm3, %%xmm2\n"
			"	packsswb %%xmm2, %%xmm0\n	pmovmskb %%xmm0, %[same]\n"
			: [same] "=r"(same) : [set] "r"(set), [member] "r"(member) : "memory");
	else
		__asm__ volatile("movd %[member], %%xmm0\n	pshufd $0, %%xmm0, %%xmm0\n"
			"	movdqa %%xmm0, %%xmm1\n"
			"	pcmpeqd (%[set]), %%xmm0\n	pcmpeqd 16(%[set]), %%xmm1\n"
			"	packssdw %%xmm1, %%xmm0\n	packsswb %%xmm0, %%xmm0\n"
			"	pmovmskb %%xmm0, %[same]\n	movzbl %b[same], %[same]\n"
			: [same] "=q"(same) : [set] "r"(set), [member] "r"(member) : "memory");
	return same;
}

/* again makes the member of a list that has a place the first one. */
static inline void againIn(u32 *set, u32 member, u32 ways, u32 place)
{
#define PLACE "	movd %[place], %%xmm1\n	pshufd $0, %%xmm1, %%xmm1\n	movd %[member], %%xmm0\n"
#define AGAIN "	movdqa (%[set]), %%xmm2\n	pslldq $4, %%xmm2\n	por %%xmm0, %%xmm2\n" MOVED(0)
	if (ways > LISTED / 2 && place >= LISTED / 2)
		__asm__ volatile(PLACE BEFORE(48) BEFORE(32) BEFORE(16) AGAIN
			: : [set] "r"(set), [member] "r"(member), [place] "r"(place) : "memory");
	else
		__asm__ volatile(PLACE BEFORE(16) AGAIN
			: : [set] "r"(set), [member] "r"(member), [place] "r"(place) : "memory");
}

/* newIn puts a member in front of a list that does not have it: the last one goes. */
static inline void newIn(u32 *set, u32 member, u32 ways)
{
#define NEW "	pslldq $4, %%xmm3\n	movd %[member], %%xmm0\n	por %%xmm0, %%xmm3\n	movdqa %%xmm3, (%[set])\n"
	u32 room = LISTED;
	if (ways > LISTED / 2)
		__asm__ volatile("movdqu 44(%[set]), %%xmm0\n	movdqu 28(%[set]), %%xmm1\n"
			"	movdqu 12(%[set]), %%xmm2\n	movdqa (%[set]), %%xmm3\n"
			"	movdqa %%xmm0, 48(%[set])\n	movdqa %%xmm1, 32(%[set])\n	movdqa %%xmm2, 16(%[set])\n" NEW
			: : [set] "r"(set), [member] "r"(member) : "memory");
	else {
		room = LISTED / 2;
		__asm__ volatile("movdqu 12(%[set]), %%xmm2\n	movdqa (%[set]), %%xmm3\n	movdqa %%xmm2, 16(%[set])\n" NEW
			: : [set] "r"(set), [member] "r"(member) : "memory");
	}
	if (ways < room)
		set[ways] = 0;
}

/* entersList is what inList is, for who has taken the registers. */
static inline __attribute__((always_inline)) int entersList(const struct level *l, u64 line, int *conflict, u64 *gone)
{
	u32 *set = listedIn(l, line), member = memberOf(l, line), ways = l->ways, same = sameIn(set, member, ways);
	if (same) {
		againIn(set, member, ways, __builtin_ctz(same));
		return 1;
	}
	u32 *last = (u32 *)l->heads + (line & l->mask), oldest = set[ways - 1];
	newIn(set, member, ways);
	*conflict = *last == member;
	if (oldest) {
		*last = oldest;
		*gone = lineOf(l, line, oldest);
	}
	return 0;
}

/* inMy2Alone makes a line the one used last of my second level, as inList does. */
static inline int inMy2Alone(struct core *me, u64 line, int *conflict, u64 *gone)
{
	if (me->lists)
		return entersList(&me->two, line, conflict, gone);
	if (!me->two.ways)
		return 0;
	int k = at(&me->two, line);
	if (k >= 0) {
		use(&me->two, line, k);
		return 1;
	}
	*conflict = wasLast(&me->two, line);
	*gone = fill(&me->two, line, WRITABLE) >> 2;
	return 0;
}

/* far brings a line that is not in my second level either there. */
static inline __attribute__((always_inline)) int far(struct shared *s, struct core *me, u64 line, int conflict, u64 gone, u64 ways)
{
	int conflict3 = 0, hit3;
	u64 gone3;
	if (gone)
		forgets1(me, gone, ways);
	if (s->three.ways && !s->three.log)
		hit3 = entersList(&s->three, line, &conflict3, &gone3);
	else
		hit3 = lookUp3(s, line, &conflict3);
	if (hit3)
		return FROM_L3 + (conflict ? CONFLICT : CAPACITY);
	if (!sawBefore(s, me, line))
		return FROM_MEMORY + COLD;
	return FROM_MEMORY + ((s->three.ways ? conflict3 : conflict) ? CONFLICT : CAPACITY);
}

/* misses1 is an access to one line that is not in its row. ways: of the first level. */
static inline __attribute__((always_inline)) int misses1(struct shared *s, struct core *me, u64 line, u64 ways)
{
	u64 *f = rowIn(me, line), *rest = restOf(me, line, ways), *last = &me->last1[line & me->mask1], gone = 0;
	char kept[64];
	if (inRest(f, rest, restOfSet(ways), line))
		return HIT;
	if (me->wentFar)
		fetchSet(&s->three, line, soon);
	int class, conflict = *last == line, conflict2 = conflict;
	__asm__ volatile(VECTORS : : [kept] "r"(kept) : "memory");
	if (inMy2Alone(me, line, &conflict2, &gone)) {
		me->wentFar = 0;
		class = FROM_L2 + (conflict ? CONFLICT : CAPACITY);
	} else {
		me->wentFar = 1;
		fetchSet(&s->three, line + 1, perhaps);	/* which comes next, more often than not */
		class = far(s, me, line, conflict2, gone, ways);
	}
	__asm__ volatile(VECTORS_BACK : : [kept] "r"(kept) : "memory");
	gone = enters1(f, rest, line, ways);
	if (gone)
		*last = gone;
	return class;
}

/* alone is an access to one line. It is what touch does, while there is one thread.
 * asked: it is not in its row. */
static __attribute__((noinline)) int alone(struct shared *s, struct core *me, u64 line, int asked)
{
	soon(listedIn(&me->two, line));
	if (!asked && inRow(rowIn(me, line), line))
		return HIT;
	return misses1(s, me, line, me->perSet1);
}

enum { WAYS1 = 8 };

/* plain is what most accesses are that are asked for: to one line, of a first level of as
 * many ways as most have. */
static inline int plain(struct core *me, u64 addr, u64 size)
{
	return !me->slow && me->perSet1 == WAYS1 && !me->all->sample && (addr & 63) + size <= 64;
}

static inline int plainly(struct core *me, u64 addr)
{
	struct shared *s = me->all;
	u64 line = addr >> 6;
	soon(listedIn(&me->two, line));
	return misses1(s, me, line, WAYS1);
}
