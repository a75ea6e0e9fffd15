/* What an access of moved code does that is not to the line used last in its
 * set: the caches of all cores, by the rules of package cachesim, which is its
 * oracle. It runs in the target, in the thread that makes the access, on its
 * stack and below its red zone. It keeps every register but the flags, which
 * moved code keeps itself where they matter. It uses the general ones only.
 *
 * Position-independent; everything that it needs hangs on the word of the
 * thread's area that GS points to. caches.go has the same structures.
 *
 * Locks: the state of a line, in all caches, in the directory and in the last
 * level, belongs to its shard, as do the sets of all caches that it may be in. A hit in
 * a core's own levels asks for no lock: only its own thread puts lines there and takes them out,
 * what it changes is when and where the line was used, and that others have taken
 * the line away meanwhile it sees in the tag (hits, near).
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

/* The first level: a set's ways stay where they are. With several threads the set's row says in
 * which order they were used, and a byte of each one's hash: see ORDER. Where there are no such
 * rows, a clock says when each was used last: 0 where it is empty. As long as there is one thread,
 * it is lists instead: see FIRST_READ. */

/* An outer level's sets. The ways of one stay where they are; a permutation says in which
 * order they were used. To find a line, a byte of each tag's hash is compared with
 * its own, all at once, and then whole tags where that is the same. Sets of more
 * ways than have room in a word are kept in order instead. */
enum { WIDE = 16 };

struct head {	/* of a set */
	u64 bytes[2];	/* by way */
	u64 order;	/* four bits each: ways, the one used last lowest; xor INORDER */
	u64 last;	/* the line that was evicted last */
};

struct level {
	struct head *heads;
	u64 *tags;
	u64 mask;	/* of sets */
	u32 ways;
	unsigned short log, bits;	/* a set has 1 << log tags, 1 << bits sets are there; log 0: these are lists */
};

/* Where nobody asks for the state of a line, in the last level and, as long as there is one
 * thread, in the second, a set is a list instead, of at most 16 lines in the order of
 * their use: what their numbers have above the set's, and 1, in 32 bits. So it is a line of the
 * host's caches, and one is all that is asked for. What was evicted last stands by set
 * where the heads are else, as such a number. */
enum { LISTED = 16 };

/* With several threads the second level is packed where it was lists: its sets, of at most 8 or
 * 16 lines by such numbers, take one or two lines of the host's. Behind them stand the order,
 * as above, the line that was evicted last, and the states. There are no heads then. Who changes
 * a state writes its byte, so others' need no care. */
struct packed {
	u64 order;
	u32 last, pad;
	unsigned char state[];
};

/* What a thread has written to a WATCHED line in a way of its first level since the line's
 * record heard of it: see notes. */
struct note {
	u64 mask;
	u32 op, more;	/* 0: nothing is noted; else for one less writes the record is not asked */
};

enum { NOTES = 256 };

struct core {
	struct shared *all;
	u64 id;
	u64 *front;	/* of the thread that has the core: by set, the line used last, as far as it may be read, and written */
	u32 pad0, slow;	/* 0: there are lists; 2: there are several threads; 1: neither matters */
	u64 *tags1, *used1;	/* of ways; behind the second of these their notes. By rows: it is the order of a set
				 * that nobody has a row of, xor INORDER, in the place of its first way */
	u64 mask1, clock, perSet1;
	u64 *last1;	/* by set, the line that was evicted last */
	struct level two;
	/* As long as there is one thread: the last miss was one of the second level, too; and that has lists. */
	u64 wentFar, lists;
};

_Static_assert(__builtin_offsetof(struct core, two) == 80, "the entries know it");


struct epoch {
	u64 mask, losers;
	u32 op, writer;
};

struct contended {
	struct epoch of[EPOCHS];	/* the newest last */
	u32 n, next;
};

/* Of a line's number an entry has what is above its place in the table, and 1. */
enum { TABLE = 21, TAG = 24 };

struct entry {
	u64 tag : TAG, next : 20, contended : 20;	/* tag 0: none; the others are numbers, from 1 */
	u64 holders;
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
	u64 shift, shardMask;
	u64 tableMask, perShard;	/* entries by line, 1 << TABLE, and how many more each shard has */
	u64 seenMask;
	struct level three;
	struct entry *table;	/* by line: neighbours lie together */
	struct entry *more;	/* of lines whose places are taken */
	struct contended *contended;
	struct seen *seen;
	struct partner *partners;
	u64 trouble;	/* 1: no room in the directory, 2: none for who has seen what, 4: a lock was never given back */
	u64 accesses;	/* that signals' handlers made on the way, and that were left out */
	u64 many;	/* there is more than one thread, or was */
	u64 sample;	/* which lines are simulated, by their lowest six bits; 0: all */
	u32 *spread;	/* where not all are: for each op and level, how many misses groups of these lines have */
	u64 groups;	/* that there are; each line is of another one than the one before it */
	struct reuse *reuse;	/* where sizes are told apart instead of simulating a machine; else 0 */
	struct telling *telling;	/* where the machine is simulated elsewhere, and accesses are told; else 0 */
	u64 pad[2];
	struct core core[CORES];
	struct shard shard[SHARDS];
};

_Static_assert(__builtin_offsetof(struct shared, core) == 24 * 8 && sizeof(struct core) == 128 && sizeof(struct entry) == 16 &&
	sizeof(struct contended) == 104 && sizeof(struct shard) == 64 && sizeof(struct head) == 32, "caches.go has them so");

struct thread {	/* of the area that GS points to, from CORE on */
	struct core *core;
	u64 *misses;	/* CLASSES for each op */
	u64 *live;	/* bits: which eights of counters may be other than 0 */
	u64 firstLive;	/* of the misses */
	u64 inside;
	u32 caller, pad;	/* the op of the call of a library that is being made; or NOBODY, or ERASED */
	u64 *changed;	/* bits as of live: which eights of misses have changed since recorder.S last looked, which takes them back */
	u64 told;	/* of recorder.S, where accesses are told, as is changed then */
};

/* Code of libraries that are not counted has no ops of its own: BY_CALLER stands in
 * their stead, and what it reads is counted as the caller's op, what it writes as the
 * next one. NOBODY's is not counted. ERASED does not even happen. */
enum { BY_CALLER = 0xffffff };
#define NOBODY 0xffffffffU
#define ERASED 0xfffffffeU

struct access {
	u64 line, bytes;
	u32 op;
	int write, class, upgrade;
	struct entry *entry;
	u32 by, writer;	/* who took the line away, where that is the reason */
};

/* What moved code calls: at 0 and 32 as long as that may do, at 1536 for a read, at 1792 for a
 * write, at 2048 for ranges. For these the address is pushed before the call (0 for ranges),
 * and behind the call stands "test $n, %eax", where n is op << 8 and how many bytes, or
 * what ranges.
 *
 * Most calls are to lines that are in the first level, if not in front. These are made at 0
 * for a read, at 32 for a write: rax has the line, rcx where its set's row is, from GS on,
 * and neither need be kept; the first two of the row have been asked for it. Libraries that
 * are not counted go without: there is much of their code, and little of it runs. It says "equal" if that was all. Nothing of this waits, and who is
 * interrupted goes on by single steps before a handler runs.
 *
 * With one thread they go by the lists in the rows; with several it is what hits() does,
 * where the row says that the line may be. Who accesses two lines has the last one, and the
 * row of another, where it is not found then. */

#define UP(from, to)                                                     \
	"	mov %gs:" #from "(%rcx), %rdx\n"                         \
	"	mov %rdx, %gs:" #to "(%rcx)\n"

#define IS_AT(at)                                                        \
	"	cmp %gs:" #at "(%rcx), %rax\n"                           \
	"	je is" #at "\n"

#define AMONG(how)                                                       \
	"	.p2align 5\n"                                            \
	"	push %rdx\n"                                             \
	"	testb $0x40, %gs:31(%rcx)\n"	/* SEVERAL */              \
	"	jnz some" #how "\n"                                      \
	"	jmp " #how "\n"

#define OTHERS(how)                                                      \
	#how ":\n"                                               \
	IS_AT(24) IS_AT(32) IS_AT(40) IS_AT(48) IS_AT(56)                \
	"	or $1, %dl\n"                                            \
	"	pop %rdx\n"                                              \
	"	ret\n"

#define MOVES                                                            \
	"is56:" UP(48, 56)                                               \
	"is48:" UP(40, 48)                                               \
	"is40:" UP(32, 40)                                               \
	"is32:" UP(24, 32)                                               \
	"is24:" UP(16, 24)                                               \
	UP(0, 16)                                                        \
	"	mov %rax, %gs:(%rcx)\n"                                  \
	"	mov %rax, %gs:8(%rcx)\n"                                 \
	"	pop %rdx\n"                                              \
	"	ret\n"

/* With several threads: the line used before the one that was used last. They change places. */
#define OTHER_ONE(unless)                                                \
	"	mov %gs:24(%rcx), %rdx\n"                                \
	"	xor %rax, %rdx\n"                                        \
	"	add %rdx, %rdx\n"	/* MARK is the carry flag */     \
	"	dec %rdx\n"	/* SEVERAL, and nothing else */          \
	"	jno 9f\n"                                                \
	unless                                                           \
	"	mov %rax, %gs:(%rcx)\n"                                  \
	"	mov $0, %edx\n"                                          \
	"	rcr $1, %rdx\n"                                          \
	"	or %rdx, %rax\n"                                         \
	"	mov %gs:8(%rcx), %rdx\n"                                 \
	"	bts $62, %rdx\n"                                         \
	"	mov %rax, %gs:8(%rcx)\n"                                 \
	"	mov %rdx, %gs:24(%rcx)\n"                                \
	"	cmp %eax, %eax\n"                                        \
	"	pop %rdx\n"                                              \
	"	ret\n"                                                   \
	"9:\n"

/* What is first and may not be written is a matter of those who are asked. */
#define NOT_FIRST                                                        \
	"	cmp %gs:(%rcx), %rax\n"                                  \
	"	jne 9f\n"                                                \
	"	or $1, %dl\n"                                            \
	"	pop %rdx\n"                                              \
	"	ret\n"                                                   \
	"9:\n"

/* Of the bytes in x it keeps the highest bits of those that are 0: of the lowest of them, that is,
 * above it may be wrong. r9 has LOW; y is changed. */
#define ZERO(x, y)                                                       \
	"	mov " x ", " y "\n"                                      \
	"	not " y "\n"                                             \
	"	sub %r9, " x "\n"                                        \
	"	and " y ", " x "\n"                                      \
	"	mov %r9, " y "\n"                                        \
	"	shl $7, " y "\n"                                         \
	"	and " y ", " x "\n"

/* rsi is where the set's tags are, rdx which way it is, r9 its tag, r8 the order. */
#define SOME(how, before, may)                                           \
	"some" #how ":\n"                                                \
	before                                                           \
	"	push %rdi\n	push %rsi\n"                             \
	"	push %r8\n	push %r9\n	push %r10\n"             \
	"	mov %gs:0x198, %rdi\n"	/* threadarea.OffCaches */       \
	"	test %rdi, %rdi\n"                                       \
	"	jz 8f\n"                                                 \
	"	cmpq $0, 32(%rdi)\n"	/* inside */                     \
	"	jne 8f\n"                                                \
	"	mov %gs:40(%rcx), %rsi\n"	/* SET */                \
	"	test %rsi, %rsi\n"                                       \
	"	jz 8f\n"                                                 \
	"	prefetcht0 (%rsi)\n"                                     \
	"	mov $0x9E3779B97F4A7C15, %rdx\n"	/* as hash() does */ \
	"	imul %rax, %rdx\n"                                       \
	"	shr $56, %rdx\n"                                         \
	"	mov $0x0101010101010101, %r9\n"	/* LOW */                \
	"	imul %r9, %rdx\n"                                        \
	"	mov %rdx, %r10\n"                                        \
	"	xor %gs:48(%rcx), %rdx\n"	/* HASHES */             \
	ZERO("%rdx", "%r8")                                              \
	"	je 2f\n"                                                 \
	"	bsf %rdx, %rdx\n"                                        \
	"	shr $3, %edx\n"                                          \
	"1:	mov (%rsi,%rdx,8), %r9\n"                                \
	may                                                              \
	"	mov %gs:(%rcx), %r10\n"                                  \
	"	test %r10, %r10\n"                                       \
	"	jle 8f\n"	/* the first one is gone */              \
	"	mov %gs:32(%rcx), %r8\n"	/* ORDER, as settles() has it */ \
	"	mov %r8d, %edi\n"                                        \
	"	shr $4, %edi\n"                                          \
	"	and $15, %edi\n"                                         \
	"	mov (%rsi,%rdi,8), %rsi\n"                               \
	"	shr $2, %rsi\n"                                          \
	"	mov %r8, %rdi\n"                                         \
	"	rol $4, %dil\n"                                          \
	"	cmp %r10, %rsi\n"                                        \
	"	cmovne %r8, %rdi\n"                                      \
	"	mov $0x1111111111111111, %r8\n"	/* as toFirst() does */  \
	"	mov %rdx, %rsi\n"                                        \
	"	imul %r8, %rsi\n"                                        \
	"	xor %rdi, %rsi\n"                                        \
	"	mov %rsi, %r10\n"                                        \
	"	not %rsi\n"                                              \
	"	sub %r8, %r10\n"                                         \
	"	and %rsi, %r10\n"                                        \
	"	shl $3, %r8\n"                                           \
	"	and %r8, %r10\n"                                         \
	"	lea -1(%r10), %r8\n"                                     \
	"	xor %r10, %r8\n"                                         \
	"	mov %rdi, %r10\n"                                        \
	"	shl $4, %r10\n"                                          \
	"	or %rdx, %r10\n"                                         \
	"	xor %rdi, %r10\n"                                        \
	"	and %r8, %r10\n"                                         \
	"	xor %r10, %rdi\n"                                        \
	"	mov %rdi, %gs:32(%rcx)\n"                                \
	"	mov %gs:(%rcx), %r10\n"	/* as show() does */             \
	"	mov %gs:8(%rcx), %rdi\n"                                 \
	"	test %r10, %r10\n"                                       \
	"	jle 8f\n"                                                \
	"	lea 3(,%rax,4), %r8\n"                                   \
	"	mov %rax, %rsi\n"                                        \
	"	cmp %r8, %r9\n"                                          \
	"	jne 3f\n"                                                \
	"	cmp %r10, %rdi\n"                                        \
	"	jne 4f\n"                                                \
	"	xor %edi, %edi\n	jmp 0f\n"                        \
	"3:	bts $63, %rsi\n"	/* not both of them may be written */ \
	"4:	xor %r10d, %r10d\n"                                      \
	"0:	bts $62, %rdi\n"                                         \
	"	mov %r10, %gs:16(%rcx)\n"                                \
	"	mov %rdi, %gs:24(%rcx)\n"                                \
	"	mov %rax, %gs:(%rcx)\n"                                  \
	"	mov %rsi, %gs:8(%rcx)\n"                                 \
	"	mov %gs:40(%rcx), %rsi\n"                                \
	"	cmp %r9, (%rsi,%rdx,8)\n"                                \
	"	jne 6f\n"                                                \
	"7:	pop %r10\n	pop %r9\n	pop %r8\n"               \
	"	pop %rsi\n	pop %rdi\n	pop %rdx\n"              \
	"	ret\n"                                                   \
	"6:	movq $-1, %gs:(%rcx)\n"	/* taken away meanwhile */ \
	"	movq $-1, %gs:8(%rcx)\n"                                 \
	"	movq $0, %gs:16(%rcx)\n"                                 \
	"	movq $0, %gs:24(%rcx)\n"                                 \
	"	movb $0x40, %gs:31(%rcx)\n"                              \
	"	jmp 8f\n"                                                \
	"2:	mov %gs:56(%rcx), %rdx\n"	/* the ninth way, and so on */ \
	"	test %rdx, %rdx\n"                                       \
	"	jz 5f\n"                                                 \
	"	xor %r10, %rdx\n"                                        \
	ZERO("%rdx", "%r8")                                              \
	"	je 5f\n"                                                 \
	"	bsf %rdx, %rdx\n"                                        \
	"	shr $3, %edx\n"                                          \
	"	or $8, %edx\n"                                           \
	"	jmp 1b\n"                                                \
	"5:	mov (%rdi), %rdi\n"	/* its set in the second level will be asked for */ \
	"	mov 96(%rdi), %rsi\n"                                    \
	"	and %rax, %rsi\n"                                        \
	"	movzbl 108(%rdi), %ecx\n"                                \
	"	shl %cl, %rsi\n"                                         \
	"	mov 88(%rdi), %rdi\n"                                    \
	"	prefetcht0 (%rdi,%rsi,8)\n"                              \
	"8:	or $1, %dl\n"                                            \
	"	jmp 7b\n"

#define MAY_READ                                                         \
	"	mov %r9, %r8\n"                                          \
	"	shr $2, %r8\n"                                           \
	"	cmp %rax, %r8\n"                                         \
	"	jne 5f\n"                                                \
	"	test $3, %r9b\n"	/* INVALID */                    \
	"	jz 5f\n"
#define MAY_WRITE                                                        \
	"	lea 3(,%rax,4), %r8\n"	/* WRITABLE */                   \
	"	cmp %r8, %r9\n"                                          \
	"	jne 5f\n"

#define ENTRY(write)                                                     \
	"	.p2align 8\n"                                            \
	"	push %rax\n	push %rcx\n	push %rdx\n"             \
	"	push %rdi\n	push %rsi\n"                             \
	"	push %r8\n	push %r9\n	push %r10\n	push %r11\n"     \
	"	mov $" #write ", %edx\n"

__asm__(".text\n"
	AMONG(read) AMONG(write)
	OTHERS(read) OTHERS(write) MOVES
	SOME(read, OTHER_ONE(""), MAY_READ) SOME(write, NOT_FIRST OTHER_ONE("	jc 9f\n"), MAY_WRITE)
	"	.org 1536\n"
	ENTRY(0)
	"	jmp 1f\n"
	ENTRY(1)
	"	jmp 1f\n"
	ENTRY(2)
	"1:	mov %gs:0x198, %rdi\n"
	"	mov %rsp, %rsi\n"
	"	call one\n"
	"	pop %r11\n	pop %r10\n	pop %r9\n	pop %r8\n"
	"	pop %rsi\n	pop %rdi\n	pop %rdx\n"
	"	pop %rcx\n	pop %rax\n"
	"	ret $8\n");	/* the only one: caches.Return */

#define RELAXED(x) (*(volatile __typeof__(x) *)&(x))

/* A lock is 0, or 1 if somebody has it, or 2 if others may sleep until it is given back. Who has
 * no processor may have it: who waits must leave it one, and so sleeps, after a while. (The
 * machine of virtual cores knows that threads that sleep in here do not.) */
enum { FREE, TAKEN, AWAITED };

static long futex(u32 *l, long what, u32 value, const void *timeout)
{
	long n = 202;
	register const void *until __asm__("r10") = timeout;
	__asm__ volatile("syscall" : "+a"(n) : "D"(l), "S"(what), "d"((u64)value), "r"(until) : "rcx", "r11", "memory");
	return n;
}

static void yield(void)
{
	u64 n = 24;	/* sched_yield */
	__asm__ volatile("syscall" : "+a"(n) : : "rcx", "r11", "memory");
}

static __attribute__((noinline)) void await(struct shared *s, u32 *l)
{
	for (u32 n = 0; n < 100; n++) {
		__asm__ volatile("pause");
		u32 was = FREE;
		if (RELAXED(*l) == FREE && __atomic_compare_exchange_n(l, &was, TAKEN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
	}
	u64 time[] = {0, 10000000};	/* ns */
	for (u32 n = 0; n < 200; n++) {
		if (__atomic_exchange_n(l, AWAITED, __ATOMIC_ACQUIRE) == FREE)
			return;
		futex(l, 128, AWAITED, time);	/* FUTEX_WAIT, PRIVATE */
	}
	__atomic_or_fetch(&s->trouble, 4, __ATOMIC_RELAXED);
}

static inline void lock(struct shared *s, u32 *l)
{
	u32 was = FREE;
	if (s->many && !__atomic_compare_exchange_n(l, &was, TAKEN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		await(s, l);
}

static inline void unlock(u32 *l)
{
	if (__atomic_exchange_n(l, FREE, __ATOMIC_RELEASE) == AWAITED)
		futex(l, 129, 1, 0);	/* FUTEX_WAKE, likewise */
}

/* soon has the processor fetch what will be written, so that it need not ask again to have it alone;
 * processors that do not know how leave it be. (The compiler leaves out calls of functions that do no
 * more than its own word for this.) */
static inline void soon(const void *p)
{
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
}

/* perhaps has it fetch what may be, and leaves it to another core that has written to it. */
static inline void perhaps(const void *p)
{
	__asm__ volatile("prefetcht0 %0" : : "m"(*(const char *)p));
}

#define LOW 0x0101010101010101UL	/* in each byte */
#define LOW4 0x1111111111111111UL	/* in each four bits */
#define INORDER 0xfedcba9876543210UL

static inline struct head *headOf(const struct level *l, u64 line)
{
	return &l->heads[line & l->mask];
}

static inline u64 *tagsOf(const struct level *l, u64 line)
{
	return &l->tags[(line & l->mask) << l->log];
}

static inline u64 hash(u64 line)
{
	return line * 0x9E3779B97F4A7C15UL >> 56;
}

static inline u32 *membersOf(const struct level *l, u64 line)
{
	return (u32 *)l->tags + ((line & l->mask) << l->log << 1);
}

static inline u32 memberOf(const struct level *l, u64 line)
{
	return (u32)(line >> l->bits) + 1;
}

static inline u64 lineOf(const struct level *l, u64 line, u32 member)
{
	return (u64)(member - 1) << l->bits | (line & l->mask);
}

static inline struct packed *packedOf(const struct level *l, u64 line)
{
	return (struct packed *)(membersOf(l, line) + (1UL << l->log));
}

/* inPacked is the way that has a line, or -1. The registers that it takes for this it gives back. */
static inline int inPacked(const struct level *l, u64 line)
{
	u32 *set = membersOf(l, line), same;
	char kept[64];
	if (l->ways > WIDE / 2)
		__asm__("	movups %%xmm0, (%[kept])\n	movups %%xmm1, 16(%[kept])\n"
			"	movups %%xmm2, 32(%[kept])\n	movups %%xmm3, 48(%[kept])\n"
			"	movd %[member], %%xmm0\n	pshufd $0, %%xmm0, %%xmm0\n"
			"	movdqa %%xmm0, %%xmm1\n	movdqa %%xmm0, %%xmm2\n	movdqa %%xmm0, %%xmm3\n"
			"	pcmpeqd (%[set]), %%xmm0\n	pcmpeqd 16(%[set]), %%xmm1\n"
			"	pcmpeqd 32(%[set]), %%xmm2\n	pcmpeqd 48(%[set]), %%xmm3\n"
			"	packssdw %%xmm1, %%xmm0\n	packssdw %%xmm3, %%xmm2\n"
			"	packsswb %%xmm2, %%xmm0\n	pmovmskb %%xmm0, %[same]\n"
			"	movups (%[kept]), %%xmm0\n	movups 16(%[kept]), %%xmm1\n"
			"	movups 32(%[kept]), %%xmm2\n	movups 48(%[kept]), %%xmm3\n"
			: [same] "=&r"(same) : [set] "r"(set), [member] "r"(memberOf(l, line)), [kept] "r"(kept) : "memory");
	else
		__asm__("	movups %%xmm0, (%[kept])\n	movups %%xmm1, 16(%[kept])\n"
			"	movd %[member], %%xmm0\n	pshufd $0, %%xmm0, %%xmm0\n"
			"	movdqa %%xmm0, %%xmm1\n"
			"	pcmpeqd (%[set]), %%xmm0\n	pcmpeqd 16(%[set]), %%xmm1\n"
			"	packssdw %%xmm1, %%xmm0\n	packsswb %%xmm0, %%xmm0\n"
			"	pmovmskb %%xmm0, %[same]\n	movzbl %b[same], %[same]\n"
			"	movups (%[kept]), %%xmm0\n	movups 16(%[kept]), %%xmm1\n"
			: [same] "=&q"(same) : [set] "r"(set), [member] "r"(memberOf(l, line)), [kept] "r"(kept) : "memory");
	return same ? __builtin_ctz(same) : -1;
}

/* at is the way that has a line's tag, or -1. */
static inline int at(const struct level *l, u64 line)
{
	if (!l->heads)
		return inPacked(l, line);
	u64 *tags = tagsOf(l, line), tag = line << 2;
	if (l->ways > WIDE) {
		for (u32 i = 0; i < l->ways; i++)
			if ((tags[i] ^ tag) <= STATE)
				return i;
		return -1;
	}
	struct head *h = headOf(l, line);
	u64 same = hash(line) * LOW, x = h->bytes[0] ^ same, y = h->bytes[1] ^ same;
	/* where a byte is 0, its highest bit, or the one below for the upper half; and sometimes where none is */
	u64 found = ((x - LOW) & ~x & LOW << 7) >> 1;
	if (l->ways > WIDE / 2)
		found |= (y - LOW) & ~y & LOW << 7;
	for (; found; found &= found - 1) {
		int bit = __builtin_ctzl(found), i = bit >> 3 | (bit & 1) << 3;
		if ((tags[i] ^ tag) <= STATE)
			return i;
	}
	return -1;
}

/* upTo is the bits of an order up to and with those that say a way. */
static inline u64 upTo(u64 order, u64 way)
{
	u64 x = order ^ way * LOW4, zero = (x - LOW4) & ~x & LOW4 << 3;
	return ((zero & -zero) << 1) - 1;
}

__asm__("	.p2align 4\n"
	"places:	.long 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	.fill 16, 1, 0x90\n");	/* who reads all as code is back in step behind it */

/* Of four members of a list, at an offset, those up to the place in xmm1 become what is in
 * xmm2, the members before them. */
#define MOVED(at)                                                        \
	"	movdqa places+" #at "(%%rip), %%xmm3\n"                 \
	"	pcmpgtd %%xmm1, %%xmm3\n"                               \
	"	pxor " #at "(%[set]), %%xmm2\n"                         \
	"	pandn %%xmm2, %%xmm3\n"                                 \
	"	pxor " #at "(%[set]), %%xmm3\n"                         \
	"	movdqa %%xmm3, " #at "(%[set])\n"

#define BEFORE(at) "	movdqu " #at "-4(%[set]), %%xmm2\n" MOVED(at)

/* same is a bit for each member of a list that is the one in xmm0; by others also of those
 * behind the eighth. */
#define FOUND(others)                                                    \
	"	movups %%xmm0, (%[kept])\n	movups %%xmm1, 16(%[kept])\n" \
	"	movups %%xmm2, 32(%[kept])\n	movups %%xmm3, 48(%[kept])\n" \
	"	movd %[member], %%xmm0\n	pshufd $0, %%xmm0, %%xmm1\n" \
	"	movdqa %%xmm1, %%xmm2\n	movdqa %%xmm1, %%xmm3\n" \
	"	pcmpeqd (%[set]), %%xmm2\n	pcmpeqd 16(%[set]), %%xmm3\n" \
	"	packssdw %%xmm3, %%xmm2\n"                              \
	others                                                           \
	"	packsswb %%xmm1, %%xmm2\n	pmovmskb %%xmm2, %[same]\n" \
	"	or %[same], %[place]\n	bsf %[place], %[place]\n"       \
	"	movd %[place], %%xmm1\n	pshufd $0, %%xmm1, %%xmm1\n"

#define MOVED_FIRST                                                            \
	"	movdqa (%[set]), %%xmm2\n	pslldq $4, %%xmm2\n"    \
	"	por %%xmm0, %%xmm2\n" MOVED(0)                          \
	"	movups (%[kept]), %%xmm0\n	movups 16(%[kept]), %%xmm1\n" \
	"	movups 32(%[kept]), %%xmm2\n	movups 48(%[kept]), %%xmm3\n"

/* listed puts a member in front of a list, takes out the last one if it was not there, and
 * reports whether it was. The registers that it takes for this it gives back. */
static inline int listed(u32 *set, u32 member, u32 ways)
{
	u32 same, place = 1U << (ways - 1);
	char kept[64];
	if (ways > LISTED / 2)
		__asm__(FOUND(
			"	movdqa %%xmm1, %%xmm3\n"
			"	pcmpeqd 32(%[set]), %%xmm3\n	pcmpeqd 48(%[set]), %%xmm1\n"
			"	packssdw %%xmm1, %%xmm3\n	movdqa %%xmm3, %%xmm1\n")
			BEFORE(48) BEFORE(32) BEFORE(16) MOVED_FIRST
			: [same] "=&r"(same), [place] "+r"(place)
			: [set] "r"(set), [member] "r"(member), [kept] "r"(kept)
			: "memory", "cc");
	else
		__asm__(FOUND("	pxor %%xmm1, %%xmm1\n")
			BEFORE(16) MOVED_FIRST
			: [same] "=&r"(same), [place] "+r"(place)
			: [set] "r"(set), [member] "r"(member), [kept] "r"(kept)
			: "memory", "cc");
	return same != 0;
}

/* listedIn is a line's set where these are lists. */
static inline u32 *listedIn(const struct level *l, u64 line)
{
	return (u32 *)l->tags + LISTED * (line & l->mask);
}

/* inList makes a line the one used last of its set, and reports whether it was there. If
 * not, conflict is whether it was evicted last, and gone which one is now, or 0. */
static inline int inList(const struct level *l, u64 line, int *conflict, u64 *gone)
{
	u32 *set = listedIn(l, line), member = memberOf(l, line), oldest = set[l->ways - 1];
	*conflict = 0, *gone = 0;
	if (listed(set, member, l->ways))
		return 1;
	u32 *last = (u32 *)l->heads + (line & l->mask);
	*conflict = *last == member;
	if (oldest) {
		*last = oldest;
		*gone = lineOf(l, line, oldest);
	}
	return 0;
}

/* toFirst makes a way the first of an order. */
static inline u64 toFirst(u64 order, u64 way)
{
	u64 moved = upTo(order, way);
	return (order & ~moved) | (order << 4 & moved) | way;
}

/* toLast makes one the last of so many. */
static inline u64 toLast(u64 order, u64 way, u64 ways)
{
	u64 before = upTo(order, way) >> 4, others = ~0UL >> (64 - 4 * ways) >> 4;
	u64 behind = ways < 16 ? ~0UL << 4 * ways : 0;
	return (order & before) | (order >> 4 & others & ~before) | way << 4 * (ways - 1) | (order & behind);
}

/* use makes a way the one used last, and returns which it is then. */
static inline int use(const struct level *l, u64 line, int i)
{
	if (!l->heads) {
		struct packed *p = packedOf(l, line);
		p->order = toFirst(p->order ^ INORDER, i) ^ INORDER;
	} else if (l->ways > WIDE) {
		u64 *tags = tagsOf(l, line), tag = tags[i];
		for (; i > 0; i--)
			tags[i] = tags[i - 1];
		tags[0] = tag;
	} else {
		struct head *h = headOf(l, line);
		h->order = toFirst(h->order ^ INORDER, i) ^ INORDER;
	}
	return i;
}

/* stateIn is the state of the line in a way, and be changes it. */
static inline u64 stateIn(const struct level *l, u64 line, int i)
{
	return l->heads ? RELAXED(tagsOf(l, line)[i]) & STATE : RELAXED(packedOf(l, line)->state[i]);
}

static inline void be(const struct level *l, u64 line, int i, u64 state)
{
	if (l->heads)
		RELAXED(tagsOf(l, line)[i]) = line << 2 | state;
	else
		RELAXED(packedOf(l, line)->state[i]) = state;
}

/* oldestIn is the way of a set that is given up if it is to have another line. */
static inline int oldestIn(const struct level *l, u64 line)
{
	int i = l->ways - 1;
	if (l->ways > WIDE)
		return i;
	return ((l->heads ? headOf(l, line)->order : packedOf(l, line)->order) ^ INORDER) >> 4 * i & 15;
}

/* tagIn is the tag of a way: 0 if it is empty. */
static inline u64 tagIn(const struct level *l, u64 line, int i)
{
	if (l->heads)
		return tagsOf(l, line)[i];
	u32 member = membersOf(l, line)[i];
	return member ? lineOf(l, line, member) << 2 | packedOf(l, line)->state[i] : 0;
}

/* wasLast reports whether a line is the one that its set evicted last. */
static inline int wasLast(const struct level *l, u64 line)
{
	return l->heads ? headOf(l, line)->last == line : packedOf(l, line)->last == memberOf(l, line);
}

/* fill gives a line the way of its set that was used longest ago, and returns the
 * tag that was there. */
static inline u64 fill(const struct level *l, u64 line, u64 state)
{
	int i = oldestIn(l, line);
	u64 victim = tagIn(l, line, i);
	if (!l->heads) {
		struct packed *p = packedOf(l, line);
		u32 *member = &membersOf(l, line)[i];
		if (*member)
			p->last = *member;
		*member = memberOf(l, line);
		p->state[i] = state;
		use(l, line, i);
		return victim;
	}
	struct head *h = headOf(l, line);
	if (l->ways <= WIDE) {
		u64 shift = i * 8 & 56, *bytes = &h->bytes[i >> 3];
		*bytes = (*bytes & ~(255UL << shift)) | hash(line) << shift;
	}
	i = use(l, line, i);
	tagsOf(l, line)[i] = line << 2 | state;
	if (victim)
		h->last = victim >> 2;
	return victim;
}

/* The first level.
 *
 * A set's row of the front: the line that was used last, as far as it may be read, and
 * written; else 0. As long as there is one thread it may do both, and behind it stand
 * the others of the set in the order of their use, as far as there is room: moved code,
 * and what it calls at 0, keep them. The rest of them is where the set's ways are else.
 *
 * With several threads the line used before it stands there: SECOND, if both may be written, or
 * with the first one nobody may; else OTHER, if both may be read, as it would be written if it
 * were the first. That has SEVERAL, too, by which such a row is known. Moved code exchanges
 * the first two in the first case, what it calls in the second. Which of the first two ways
 * of the order is whose is told by the first line. What may not be read, or written, is marked,
 * too. Only who has the core changes the order, and the hashes. SET is where the tags are, 0 before
 * the row is used. */
enum { FIRST_READ, FIRST_WRITTEN, SECOND, OTHER, ORDER, SET, HASHES, IN_ROW = 7, ROW };
enum { MANY = 2 };	/* of core.slow */
#define MARK (1UL << 63)
#define SEVERAL (1UL << 62)
#define NOTHING (~0UL)	/* of the first line: it is that of no way */

static inline u64 *frontOf(struct shared *s, struct core *c, u64 line)
{
	return (u64 *)((char *)c->front + ((line & c->mask1) << s->shift));
}

/* rowOf is the same. many here, and below: whether the core is one of several threads' that show
 * two lines; its lines have 64 bytes then. Where that is a constant, it is half the work. */
static inline u64 *rowOf(struct shared *s, struct core *c, u64 line, int many)
{
	return many ? c->front + ((line & c->mask1) << 3) : frontOf(s, c, line);
}

static inline int isMany(struct core *c)
{
	return c->slow == MANY;
}

static inline u64 *set1(struct core *c, u64 line)
{
	return &c->tags1[(line & c->mask1) * c->perSet1];
}

static inline u64 *usedOf(struct core *c, u64 *w)
{
	return &c->used1[w - c->tags1];
}

/* at1 is the way that has a line's tag, or 0. */
static inline u64 *at1(struct core *c, u64 line)
{
	u64 *w = set1(c, line);
	for (u64 *end = w + c->perSet1; w < end; w++)
		if ((RELAXED(*w) ^ line << 2) <= STATE)
			return w;
	return 0;
}

/* hashes puts the byte of a way's line into a row. */
static inline void hashes(u64 *f, u64 way, u64 line)
{
	u64 *x = &f[HASHES + (way >> 3)], shift = way << 3 & 56;
	*x = (*x & ~(255UL << shift)) | hash(line) << shift;
}

/* prepares makes a row of a set. */
static __attribute__((noinline)) void prepares(struct core *c, u64 *f, u64 line)
{
	u64 *set = set1(c, line);
	f[ORDER] = *usedOf(c, set) ^ INORDER;
	f[HASHES] = f[HASHES + 1] = 0;
	for (u64 i = 0; i < c->perSet1; i++)
		hashes(f, i, RELAXED(set[i]) >> 2);
	f[SET] = (u64)set, f[OTHER] = SEVERAL;
	if (!f[FIRST_READ])
		RELAXED(f[FIRST_READ]) = RELAXED(f[FIRST_WRITTEN]) = NOTHING;
}

/* settles has the order say which line was used last, if moved code has exchanged the first two. */
static __attribute__((always_inline)) inline void settles(struct core *c, u64 *f, u64 line, int many)
{
	if (!many)
		return;
	if (!f[SET])
		prepares(c, f, line);
	u64 *set = (u64 *)f[SET], order = f[ORDER], x = (order ^ order >> 4) & 15;
	if (!((RELAXED(set[order >> 4 & 15]) >> 2 ^ RELAXED(f[FIRST_READ])) << 1))
		f[ORDER] = order ^ x * 17;
}

enum { NONE = -1, UNKNOWN = -2 };	/* of ways */

/* in1 is the way that has a line's tag, or 0; k is which way of the second level has it, or NONE, or UNKNOWN. */
static __attribute__((always_inline)) inline u64 *in1(struct core *c, u64 *f, u64 line, int *k, int many)
{
	u64 *w;
	*k = UNKNOWN;
	if (many) {
		u64 same = hash(line) * LOW;
		for (u64 i = 0; i < c->perSet1; i += 8) {
			u64 x = f[HASHES + i / 8] ^ same;
			for (u64 found = (x - LOW) & ~x & LOW << 7; found; found &= found - 1) {
				w = (u64 *)f[SET] + i + (__builtin_ctzl(found) >> 3);
				if ((RELAXED(*w) ^ line << 2) <= STATE)
					return w;
			}
		}
	} else if ((w = at1(c, line))) {
		return w;
	}
	if (!c->two.heads)
		*k = inPacked(&c->two, line);
	else if (c->two.ways && c->two.ways <= WIDE)
		*k = at(&c->two, line);
	return 0;
}

/* oldest1 is that of a line's set which was used longest ago. */
static inline u64 *oldest1(struct core *c, u64 *f, u64 line, int many)
{
	if (many)
		return (u64 *)f[SET] + (f[ORDER] >> 4 * (c->perSet1 - 1) & 15);
	u64 *w = set1(c, line), *used = usedOf(c, w), oldest = ~0UL;	/* what is used last is less than 1 << 58, and sets have at most 64 ways */
	for (u64 i = 0; i < c->perSet1; i++) {
		u64 x = used[i] << 6 | i;
		oldest = x < oldest ? x : oldest;
	}
	return &w[oldest & 63];
}

/* hides has moved code ask for each line of a set. */
static inline void hides(struct shared *s, struct core *c, u64 line)
{
	u64 *f = frontOf(s, c, line);
	RELAXED(f[FIRST_READ]) = RELAXED(f[FIRST_WRITTEN]) = NOTHING;
	if (isMany(c))	/* else there is no room */
		RELAXED(f[SECOND]) = 0, RELAXED(f[OTHER]) = SEVERAL;
}

/* show makes a way the one used last, and tells moved code which line it has; where
 * it may not be read, none. */
static __attribute__((always_inline)) inline void show(struct core *c, u64 *f, u64 *w, u64 line, u64 state, int many)
{
	if (!many) {
		*usedOf(c, w) = ++c->clock;
		RELAXED(f[FIRST_READ]) = state ? line : 0;
		RELAXED(f[FIRST_WRITTEN]) = state == WRITABLE ? line : 0;
		return;
	}
	u64 read = RELAXED(f[FIRST_READ]), written = RELAXED(f[FIRST_WRITTEN]), both = written, marked = line | MARK;
	u64 order = f[ORDER], way = w - (u64 *)f[SET];
	if (read & MARK || way == (order & 15))	/* it is gone */
		read = 0;
	if (read != both || state != WRITABLE)
		both = 0;
	RELAXED(f[SECOND]) = both;
	RELAXED(f[OTHER]) = both || !read ? SEVERAL : written | SEVERAL;
	f[ORDER] = toFirst(order, way);
	RELAXED(f[FIRST_READ]) = state ? line : marked;
	RELAXED(f[FIRST_WRITTEN]) = state == WRITABLE ? line : marked;
}

/* isFirst reports whether a line is the one of its set that was used last, and as an access wants it:
 * then there is nothing to do. */
static inline int isFirst(struct shared *s, struct core *c, u64 line, int write)
{
	return RELAXED(frontOf(s, c, line)[write ? FIRST_WRITTEN : FIRST_READ]) == line;
}

/* shown reports whether it is a line that may be read. */
static inline int shown(struct shared *s, struct core *c, u64 line)
{
	return *frontOf(s, c, line) == line;
}

static inline struct note *noteOf(struct core *c, u64 *w)
{
	return (struct note *)(c->used1 + (c->mask1 + 1) * c->perSet1) + (w - c->tags1);
}

/* notesIn reports whether something is noted of the line in a way: of others than WATCHED ones
 * what is said there means nothing. */
static inline int notesIn(struct core *c, u64 *w)
{
	return (RELAXED(*w) & STATE) == WATCHED && noteOf(c, w)->more && noteOf(c, w)->mask;
}

/* use1 makes a way the one used last, with a line in a state. */
static inline void use1(struct shared *s, struct core *c, u64 *w, u64 line, u64 state)
{
	if (state == WATCHED)
		noteOf(c, w)->more = 0;
	*w = line << 2 | state;
	u64 *f = frontOf(s, c, line);
	if (isMany(c))
		hashes(f, w - (u64 *)f[SET], line);
	show(c, f, w, line, state, isMany(c));
}

/* conceals has moved code of another thread ask for a line in a state: the first of its set, or the
 * second, which no longer changes places with it then. It may just be showing another one: never
 * put this one there. */
static inline void conceals(struct core *c, u64 line, u64 state)
{
	u64 *f = rowOf(0, c, line, 1), marked = line | MARK;
	if (RELAXED(f[FIRST_READ]) == line) {
		RELAXED(f[SECOND]) = 0;
		RELAXED(f[FIRST_WRITTEN]) = marked;
		if (state == INVALID) {
			RELAXED(f[OTHER]) = SEVERAL;
			RELAXED(f[FIRST_READ]) = marked;
		}
	}
	if (RELAXED(f[SECOND]) == line)
		RELAXED(f[SECOND]) = 0;
	if ((RELAXED(f[OTHER]) | MARK) == (marked | SEVERAL))
		RELAXED(f[OTHER]) = state == INVALID ? SEVERAL : marked | SEVERAL;
}

/* setState changes the state of a line that a core may hold: in the second level first, since
 * its thread, which asks for no lock to get a line from there, asks there again when it has it
 * in the first one. */
static void setState(struct shared *s, struct core *c, u64 line, u64 state)
{
	int i = c->two.ways ? at(&c->two, line) : -1;
	if (i >= 0 && stateIn(&c->two, line, i) != INVALID)
		be(&c->two, line, i, state);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	u64 *w = at1(c, line), was = w ? RELAXED(*w) : 0;
	if ((was ^ line << 2) > STATE || !(was & STATE))
		return;
	/* its own thread may just be putting another line there */
	if (!__atomic_compare_exchange_n(w, &was, line << 2 | state, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	u64 *f = frontOf(s, c, line);
	if (isMany(c)) {
		conceals(c, line, state);
	} else if (shown(s, c, line)) {
		RELAXED(f[FIRST_WRITTEN]) = 0;
		if (state == INVALID)
			RELAXED(f[FIRST_READ]) = 0;
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
	u64 tag = ((line >> TABLE) + 1) & ((1UL << TAG) - 1);
	if (e->tag == tag)
		return e;
	for (u32 n = first->next; n; n = e->next) {
		e = entryNo(s, line, n);
		if (e->tag == tag)
			return e;
	}
	if (!make)
		return 0;
	e = first;
	if (e->tag) {
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
	e->tag = tag, e->holders = 0, e->contended = 0;
	return e;
}

/* forgiven drops the record of who lost a line when nobody may come back. */
static void forgiven(struct shared *s, struct entry *e, u64 line)
{
	u64 losers = 0;
	if (!e->contended)
		return;
	struct shard *h = &s->shard[line & s->shardMask];
	struct contended *c = contendedNo(s, line, e->contended);
	for (u32 i = 0; i < c->n; i++)
		losers |= c->of[i].losers;
	if (losers)
		return;
	c->next = h->freeContended;
	h->freeContended = e->contended;
	e->contended = 0;
}

/* settle drops what nobody needs of a line, also its entry when nobody holds it. */
static void settle(struct shared *s, struct entry *e, u64 line)
{
	struct shard *h = &s->shard[line & s->shardMask];
	forgiven(s, e, line);
	if (e->holders || e->contended)
		return;
	e->tag = 0;
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

/* hears puts to the record of a line what a core's way has noted of it. */
static void hears(struct shared *s, struct core *c, u64 *w, struct entry *e, u64 line)
{
	struct note *n = noteOf(c, w);
	if (!notesIn(c, w))
		return;
	if (e && e->contended) {
		struct contended *x = contendedNo(s, line, e->contended);
		x->of[x->n - 1].mask |= n->mask;
		x->of[x->n - 1].op = n->op;
	}
	n->more = 0;
}

/* hearsOf has the record of a line hear what another core, that has it alone, has noted. */
static void hearsOf(struct shared *s, struct core *me, struct entry *e, u64 line)
{
	if (!e || !e->contended || !e->holders || e->holders & (e->holders - 1) || e->holders >> me->id & 1)
		return;
	struct core *c = &s->core[__builtin_ctzl(e->holders)];
	u64 *w = at1(c, line);
	if (w)
		hears(s, c, w, e, line);
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
static void forgets(struct shared *s, struct core *me, struct entry *e, u64 line)
{
	if (!e || !e->contended)
		return;
	struct contended *c = contendedNo(s, line, e->contended);
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
	forgets(s, me, e, a->line);
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
		forgets(s, me, e, tag >> 2);
	settle(s, e, tag >> 2);
}

/* seenFrom is where it is looked for whether a core has touched a line. */
static inline u64 seenFrom(struct core *me, u64 line)
{
	u64 page = line >> 6;
	return ((page >> 5) * CORES + me->id) * 0x9E3779B97F4A7C15UL >> 24 << 5 | (page & 31);
}

/* sawBefore reports whether a core has touched a line, and notes that it has. */
static int sawBefore(struct shared *s, struct core *me, u64 line)
{
	u64 page = line >> 6, bit = 1UL << (line & 63), key = (page + 1) << 6 | me->id;
	u64 i = seenFrom(me, line);
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
	if (!s->three.ways)
		return 0;
	if (!s->three.log) {
		u64 gone;
		return inList(&s->three, line, conflict, &gone);
	}
	int i = at(&s->three, line);
	if (i >= 0) {
		use(&s->three, line, i);
		return 1;
	}
	*conflict = wasLast(&s->three, line);
	fill(&s->three, line, INVALID);
	return 0;
}

/* fetch gets a line that none of my caches holds. lost: a tag of it says that I
 * had it. state is how I have it now. */
static int fetch(struct shared *s, struct core *me, struct access *a, int lost, int conflict, u64 *state)
{
	int kind = COLD, conflict3;
	struct entry *e = a->entry = s->many ? find(s, a->line, 1) : 0;
	u64 mine = 1UL << me->id, others = e ? e->holders & ~mine : 0;
	hearsOf(s, me, e, a->line);
	int hit3 = lookUp3(s, a->line, &conflict3);
	int saw = (hit3 && !s->many) || sawBefore(s, me, a->line);
	if (lost) {
		kind = sharing(s, me, a);
		if (e)
			forgiven(s, e, a->line);
	}
	int level = hit3 || (others && s->three.ways) ? FROM_L3 : FROM_MEMORY;
	if (!lost && saw)
		kind = (level == FROM_MEMORY && s->three.ways ? conflict3 : conflict) ? CONFLICT : CAPACITY;
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
		settle(s, e, a->line);
	return level + kind;
}

/* evicts is told before a way of my first level gets another line than it has. */
static void evicts(struct shared *s, struct core *me, u64 *w)
{
	if (notesIn(me, w))
		hears(s, me, w, find(s, *w >> 2, 0), *w >> 2);
}

/* drops takes out of my first level what the second has evicted. */
static void drops(struct shared *s, struct core *me, u64 line)
{
	u64 *w = at1(me, line);
	if (!w)
		return;
	evicts(s, me, w);
	u64 *f = frontOf(s, me, line);
	settles(me, f, line, isMany(me));
	if (shown(s, me, line))
		hides(s, me, line);
	*w = 0;
	if (!isMany(me)) {
		*usedOf(me, w) = 0;
		return;
	}
	if (f[SECOND] == line)
		f[SECOND] = 0;
	if ((f[OTHER] | MARK) == (line | MARK | SEVERAL))
		f[OTHER] = SEVERAL;
	f[ORDER] = toLast(f[ORDER], w - (u64 *)f[SET], me->perSet1);
}

/* watches begins to note what I write to a line that I have just written to, if somebody may
 * want to know. */
static inline void watches(struct core *me, u64 *w, struct access *a, u64 state)
{
	if (a->write && state == WATCHED)
		*noteOf(me, w) = (struct note){0, a->op, NOTES};
}

/* miss1 is an access to a line that is not in my first level, where it may have
 * left a tag. k is what in1 says of it. */
static int miss1(struct shared *s, struct core *me, struct access *a, u64 *w, int k)
{
	int class, conflict1 = me->last1[a->line & me->mask1] == a->line;
	u64 state;
	if (me->two.ways) {
		if (k == UNKNOWN)
			k = at(&me->two, a->line);
		if (k >= 0 && (state = stateIn(&me->two, a->line, k)) != INVALID) {
			class = FROM_L2 + (conflict1 ? CONFLICT : CAPACITY);
			if (a->write && state != WRITABLE) {
				a->entry = find(s, a->line, 1);
				if (state == SHARED)
					takes(s, me, a), a->upgrade = 1;
				state = written(s, me, a);
			}
		} else {
			class = fetch(s, me, a, k >= 0, wasLast(&me->two, a->line), &state);
		}
		if (k >= 0) {
			be(&me->two, a->line, use(&me->two, a->line, k), state);
		} else {
			u64 victim = fill(&me->two, a->line, state);
			if (victim) {
				drops(s, me, victim >> 2);
				leaves(s, me, victim);
			}
		}
	} else {
		class = fetch(s, me, a, w != 0, conflict1, &state);
	}
	u64 victim = 0;
	if (!w) {
		w = oldest1(me, frontOf(s, me, a->line), a->line, isMany(me));
		victim = *w;
		if (victim)
			me->last1[a->line & me->mask1] = victim >> 2;
		evicts(s, me, w);
	}
	use1(s, me, w, a->line, state);
	watches(me, w, a, state);
	if (victim && !me->two.ways)
		leaves(s, me, victim);
	return class;
}

/* inMy2 gives the second level's copy the state of the first one's. */
static void inMy2(struct core *me, u64 line, u64 state)
{
	int i = me->two.ways ? at(&me->two, line) : -1;
	if (i >= 0)
		be(&me->two, line, i, state);
}

/* fetchSet has the processor fetch what a miss will need. */
static __attribute__((always_inline)) inline void fetchSet(const struct level *l, u64 line, void (*fetch)(const void *))
{
	if (!l->ways)
		return;
	if (!l->log) {
		fetch(listedIn(l, line));
		return;
	}
	if (!l->heads) {
		fetch(membersOf(l, line));
		if (l->ways > WIDE / 2)
			fetch(packedOf(l, line));
		return;
	}
	u64 *tags = tagsOf(l, line);
	fetch(headOf(l, line));
	fetch(tags);
	fetch(tags + l->ways - 1);
}

/* near has my first level get a line from the way of the second that has it, if that is as the
 * access wants it; it returns the class of that, or HIT if not. */
static __attribute__((always_inline)) inline int near(struct shared *s, struct core *me, u64 *f, u64 line, int k, int write, int many)
{
	struct packed *p = me->two.heads ? 0 : packedOf(&me->two, line);
	u64 is, now, *last = &me->last1[line & me->mask1];
#define IS_NOW (p ? RELAXED(p->state[k]) : stateIn(&me->two, line, k))
	if (k < 0 || (is = IS_NOW) < (write ? WRITABLE : SHARED))
		return HIT;
	u64 *w = oldest1(me, f, line, many);
	if (notesIn(me, w))
		return HIT;
	int class = FROM_L2 + (*last == line ? CONFLICT : CAPACITY);
	if (p)
		p->order = toFirst(p->order ^ INORDER, k) ^ INORDER;
	else
		use(&me->two, line, k);
	if (*w)
		*last = *w >> 2;
	if (many)
		hashes(f, w - (u64 *)f[SET], line);
	if (is == WATCHED)
		noteOf(me, w)->more = 0;
	/* Who takes the line away says so in the second level, and then looks here. */
	while (__atomic_exchange_n(w, line << 2 | is, __ATOMIC_SEQ_CST), (now = IS_NOW) != is)
		is = now;
	show(me, f, w, line, is, many);
	if (RELAXED(*w) != (line << 2 | is))
		hides(s, me, line);
	return class;
}

/* touchFar is an access to a line that is not in my first level as it wants it. */
static __attribute__((noinline)) int touchFar(struct shared *s, struct core *me, struct access *a, u64 *w, int k)
{
	struct shard *h = &s->shard[a->line & s->shardMask];
	int class = HIT;
	soon(&h->lock);
	if (s->many)
		soon(&s->table[a->line & s->tableMask]);
	if (!w) {
		fetchSet(&s->three, a->line, soon);
		soon(&s->seen[seenFrom(me, a->line) & s->seenMask]);
		/* and the next line's, which comes next, more often than not */
		fetchSet(&s->three, a->line + 1, perhaps);
		if (s->many) {
			perhaps(&s->table[(a->line + 4) & s->tableMask]);
			if (k == NONE && me->two.ways) /* who leaves for it is asked for in the end */
				soon(&s->table[tagIn(&me->two, a->line, oldestIn(&me->two, a->line)) >> 2 & s->tableMask]);
		}
	}
	lock(s, &h->lock);
	u64 state = w ? RELAXED(*w) & STATE : INVALID;
	if (state == INVALID) {
		class = miss1(s, me, a, w, k);
	} else {
		if (notesIn(me, w) || (a->write && state != WRITABLE))
			a->entry = find(s, a->line, 1);
		hears(s, me, w, a->entry, a->line);
		if (a->write && state != WRITABLE) {
			if (state == SHARED)
				takes(s, me, a), a->upgrade = 1;
			state = written(s, me, a);
			inMy2(me, a->line, state);
		}
		use1(s, me, w, a->line, state);
		watches(me, w, a, state);
	}
	unlock(&h->lock);
	return class;
}

/* hits makes an access to a line that is in my first level as it wants it, if it is. That
 * another thread takes it away at the same time is seen in the tag, but for the few
 * nanoseconds that what is shown takes to reach it: then the line seems to be there until
 * another one of its set is used. */
static __attribute__((always_inline)) inline int hits(struct shared *s, struct core *me, u64 *f, u64 *w, u64 line, int write, int many)
{
	u64 tag = RELAXED(*w);
	if ((tag & STATE) < (write ? WRITABLE : SHARED))
		return 0;
	show(me, f, w, line, tag & STATE, many);
	if (RELAXED(*w) == tag)
		return 1;
	hides(s, me, line);
	return 0;
}

/* notes makes a write to a line that is WATCHED: the record of who has lost it, which others
 * may read and which takes a lock, hears of it when it is asked or the way gets another line. Now
 * and then it is asked whether anybody still wants to know. */
static __attribute__((always_inline)) inline int notes(struct shared *s, struct core *me, u64 *f, u64 *w, u64 line, u64 bytes, u32 op, int many)
{
	struct note *n = noteOf(me, w);
	u32 more = RELAXED(n->more);
	if (more <= 1 || (RELAXED(*w) & STATE) != WATCHED)
		return 0;
	n->more = more - 1, n->mask |= bytes, n->op = op;
	show(me, f, w, line, WATCHED, many);
	if ((RELAXED(*w) & STATE) == WATCHED)
		return 1;
	hides(s, me, line);
	return 0;
}

/* notesFirst is the same where the line is the one of its set that was used last: nothing else
 * changes then. Moved code, which knows nothing of what is written, asks for each such write. */
static inline int notesFirst(struct core *me, u64 line, u64 bytes, u32 op)
{
	u64 *f = rowOf(0, me, line, 1), *set = (u64 *)f[SET], tag = line << 2 | WATCHED;
	if (RELAXED(f[FIRST_READ]) != line || !set)
		return 0;
	u64 *w = &set[f[ORDER] & 15];
	if (RELAXED(*w) != tag && RELAXED(*(w = &set[f[ORDER] >> 4 & 15])) != tag)	/* moved code exchanges them */
		return 0;
	struct note *n = noteOf(me, w);
	u32 more = RELAXED(n->more);
	if (more <= 1)
		return 0;
	n->more = more - 1, n->mask |= bytes, n->op = op;
	return RELAXED(*w) == tag;
}

/* begins is an access to a line, from its beginning. */
static inline void begins(struct access *a, u64 line, u64 bytes, u32 op, int write)
{
	/* by members: to clear it all takes longer than most accesses */
	a->line = line, a->bytes = bytes, a->op = op, a->write = write;
	a->class = a->upgrade = 0, a->entry = 0;
}

/* touch is an access to one line. */
static inline int touch(struct shared *s, struct core *me, struct access *a, int many)
{
	u64 *f = rowOf(s, me, a->line, many);
	settles(me, f, a->line, many);
	int k;
	u64 *w = in1(me, f, a->line, &k, many);
	if (w && hits(s, me, f, w, a->line, a->write, many))
		return HIT;
	if (w && a->write && notes(s, me, f, w, a->line, a->bytes, a->op, many))
		return HIT;
	int class = w ? HIT : near(s, me, f, a->line, k, a->write, many);
	return class != HIT ? class : touchFar(s, me, a, w, k);
}

/* spread notes which lines a miss is of: how far groups of them differ says how wrong
 * what is made of them may be. */
enum { GROUPS = 8, LEVELS = 3 };

static void spread(struct shared *s, u64 line, u64 op, int class)
{
	u32 n = 0;
	for (u64 below = s->sample & ((1UL << (line & 63)) - 1); below; below &= below - 1)
		n++;
	__atomic_fetch_add(&s->spread[(op * LEVELS + class / 5) * GROUPS + n % (u32)s->groups], 1, __ATOMIC_RELAXED);
}

static inline void count(struct thread *t, u64 n)
{
	t->misses[n]++;
	u64 bit = t->firstLive + n / 8, *word = &t->live[bit / 64], *changed = &t->changed[bit / 64];
	if (*changed >> bit % 64 & 1)
		return;
	*changed |= 1UL << bit % 64;
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

#include "reuse.h"

/* comesBack counts how far back an access comes. Of two lines that is the farther one. */
static __attribute__((noinline)) void comesBack(struct thread *t, u64 first, u64 last, u32 op, int write)
{
	struct core *me = t->core;
	struct shared *s = me->all;
	u32 own = 0, shared = 0;
	for (u64 line = first; line <= last; line++) {
		u32 x, y;
		reused(s, me, line, write, &x, &y);
		own = x > own ? x : own;
		shared = y > shared ? y : shared;
	}
	if (op == NOBODY)
		return;
	if (own)
		count(t, (u64)op * CLASSES + own);
	if (shared)
		count(t, (op + s->reuse->ops) * CLASSES + shared);
}

#include "tell.h"

/* missed counts a miss. */
static inline void missed(struct thread *t, struct shared *s, u64 line, u32 op, int class)
{
	if (op == NOBODY)
		return;
	count(t, (u64)op * CLASSES + class);
	if (s->sample)
		spread(s, line, op, class);
}

/* counts what an access was. */
static inline void counted(struct thread *t, struct shared *s, struct access *a)
{
	if (a->op == NOBODY)
		return;
	if (a->class >= 0) {
		missed(t, s, a->line, a->op, a->class);
		if (a->class % 5 >= TRUE_SHARING)
			blame(s, a);
	}
	if (a->upgrade)
		count(t, (u64)a->op * CLASSES + UPGRADE);
}

/* several is an access to more lines than one: it is what that from farthest off is. */
static __attribute__((noinline)) void several(struct thread *t, u64 addr, u64 size, u32 op, int write)
{
	struct core *me = t->core;
	struct shared *s = me->all;
	u64 first = addr >> s->shift, last = (addr + size - 1) >> s->shift;
	struct access two[2], *worst = 0;	/* to copy one takes longer than all else */
	for (u64 line = first; line <= last; line++) {
		struct access *a = &two[worst == two];
		begins(a, line, s->many ? bytesOf(s, line, addr, addr + size - 1) : 0, op, write);
		a->class = isFirst(s, me, line, write) ? HIT : touch(s, me, a, isMany(me));
		if (!worst || (a->class >= 0 && (worst->class < 0 || a->class / 5 > worst->class / 5)))
			worst = a;
	}
	counted(t, s, worst);
}

/* to1 is an access to one line. It is what touch does, but that most of them need little of it. */
static __attribute__((always_inline)) inline void to1(struct thread *t, u64 line, u64 bytes, u32 op, int write, int many)
{
	struct core *me = t->core;
	struct shared *s = me->all;
	u64 *f = rowOf(s, me, line, many);
	settles(me, f, line, many);
	int k;
	u64 *w = in1(me, f, line, &k, many);
	if (w) {
		if (hits(s, me, f, w, line, write, many) || (write && notes(s, me, f, w, line, bytes, op, many)))
			return;
	} else {
		int class = near(s, me, f, line, k, write, many);
		if (class != HIT) {
			missed(t, s, line, op, class);
			return;
		}
	}
	struct access a;
	begins(&a, line, bytes, op, write);
	a.class = touchFar(s, me, &a, w, k);
	counted(t, s, &a);
}

static __attribute__((noinline)) void access(struct thread *t, u64 addr, u64 size, u32 op, int write)
{
	struct core *me = t->core;
	struct shared *s = me->all;
	u64 last = (addr + size - 1) >> s->shift;
	u64 first = s->sample ? last : addr >> s->shift;	/* of a sample, one of two lines is looked at: the last */
	if (s->telling)
		tells(t, addr, size, op, write);
	else if (s->reuse)
		comesBack(t, first, last, op, write);
	else if (first != last)
		several(t, addr, size, op, write);
	else
		to1(t, first, s->many ? bytesOf(s, first, addr, addr + size - 1) : 0, op, write, isMany(me));
}

/* single is an access to one line where there are several threads, as most machines' lines are. */
static __attribute__((noinline)) void single(struct thread *t, u64 line, u64 bytes, u32 op, int write)
{
	to1(t, line, bytes, op, write, 1);
}

/* bytesUpTo is which bytes of such a line an access is to that ends with one. */
static inline u64 bytesUpTo(u64 addr, u64 to)
{
	return ~0UL >> (63 - (to & 63)) & ~0UL << (addr & 63);
}

static inline void together(struct thread *t, u64 addr, u64 size, u32 op, int write)
{
	u64 to = addr + size - 1;
	if (addr >> 6 != to >> 6)
		access(t, addr, size, op, write);
	else
		single(t, to >> 6, bytesUpTo(addr, to), op, write);
}

#include "alone.h"

struct frame {
	u64 r11, r10, r9, r8, rsi, rdi, rdx, rcx, rax, returns, address;
};

/* What the low bits of n say of ranges: who is about to access them. The bits above
 * are the logarithm of the size of an element. */
enum { MEMSET, MEMCPY, BZERO, STOS, MOVS, SHAPE = 15 };

/* sampled reports whether the line of a byte is simulated. */
static inline int sampled(struct thread *t, u64 addr)
{
	struct shared *s = t->core->all;
	return !s->sample || s->sample >> (addr >> s->shift & 63) & 1;
}

/* lone is an access by the only thread. asked: if it is to one line, that is not in its row. */
static inline void lone(struct thread *t, u64 addr, u64 size, u32 op, int asked)
{
	struct core *me = t->core;
	struct shared *s = me->all;
	u64 last = (addr + size - 1) >> 6, line = s->sample ? last : addr >> 6;	/* of a sample, one of two lines is looked at */
	int class = alone(s, me, line, asked && line == last && addr >> 6 == last);
	while (line < last) {	/* of several, that from farthest off */
		int next = alone(s, me, ++line, 0);
		if (next != HIT && (class == HIT || next / 5 > class / 5))
			class = next;
	}
	if (class != HIT)
		missed(t, s, line, op, class);
}

static inline void made(struct thread *t, u64 addr, u64 size, u32 op, int write, int asked)
{
	if (t->core->slow == MANY)
		together(t, addr, size, op, write);
	else if (t->core->slow)
		access(t, addr, size, op, write);
	else
		lone(t, addr, size, op, asked);
}

static void range(struct thread *t, struct frame *f, u32 n, u32 op)
{
	u64 to = f->rdi, from = f->rsi, size = f->rdx;
	u32 shape = n & SHAPE, copies = shape == MEMCPY || shape == MOVS;
	u32 writes = op == NOBODY ? NOBODY : op + (copies || n >> 8 == BY_CALLER);
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
		if (copies && sampled(t, from + i + step - 1))
			made(t, from + i, step, op, 0, 0);
		if (sampled(t, to + i + step - 1))
			made(t, to + i, step, writes, 1, 0);
	}
}

static __attribute__((noinline)) void each(struct thread *t, struct frame *f, u64 what)
{
	if (t->inside) {
		__atomic_add_fetch(&t->core->all->accesses, 1, __ATOMIC_RELAXED);
		return;
	}
	t->inside = 1;
	__asm__ volatile("" : : : "memory");
	u32 n = *(u32 *)(f->returns + 1), op = n >> 8;
	int asked = op != BY_CALLER;	/* whether it is in its row */
	if (!asked)
		op = t->caller < ERASED ? t->caller + (what == 1) : t->caller;
	if (asked && what != 2 && plain(t->core, f->address, n & 255)) {
		int class = plainly(t->core, f->address);
		if (class != HIT)
			count(t, (u64)op * CLASSES + class);
	} else if (op == ERASED) {
	} else if (what == 2) {
		range(t, f, n, op);
	} else {
		made(t, f->address, n & 255, op, what, asked);
	}
	__asm__ volatile("" : : : "memory");
	t->inside = 0;
}

/* shortly makes an access where there are several threads, if it is not what seldom is. */
static __attribute__((always_inline)) inline int shortly(struct thread *t, u64 addr, u32 n, u32 what)
{
	struct core *me = t->core;
	u64 to = addr + (n & 255) - 1, line = to >> 6;
	u32 op = n >> 8;
	if (what > 1 || me->slow != MANY || t->inside)
		return 0;
	if (op == BY_CALLER) {
		if (t->caller >= ERASED)
			return 0;
		op = t->caller + what;
	}
	if (addr >> 6 != line)
		return line - 1 == addr >> 6 && isFirst(me->all, me, line - 1, what) && isFirst(me->all, me, line, what);
	u64 bytes = bytesUpTo(addr, to);
	if (what && notesFirst(me, line, bytes, op))
		return 1;
	t->inside = 1;
	__asm__ volatile("" : : : "memory");
	single(t, line, bytes, op, what);
	__asm__ volatile("" : : : "memory");
	t->inside = 0;
	return 1;
}

__attribute__((used)) static void one(struct thread *t, struct frame *f, u64 what)
{
	if (t && !shortly(t, f->address, *(u32 *)(f->returns + 1), what))	/* else a forked child */
		each(t, f, what);
}
