/* Runs the simulator as moved code does: it is called with GS at the area of the
 * thread whose access is made. Arguments: the code, the state, at which address that
 * is to lie, how many accesses have counters, how many cores there are, the bytes of
 * a way of the first level, a file that has the fronts. The accesses come on standard input,
 * 24 bytes each; the counters that are not 0 are written as lines: core op class n. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct thread { unsigned long core, misses, live, first, inside, caller, changed, told; };
/* called: the access is a library's, and counts as a caller's: 1, of that op; 2, of nobody;
 * 3, of one whose accesses are hits */
struct access { unsigned long addr; unsigned op; unsigned char core, write, size, called; unsigned long pad; };

static unsigned char areas[65][4096] __attribute__((aligned(4096)));
/* where rows lie from there on is 64 bytes behind a page, as in a thread's area */
#define AREA(c) ((unsigned long *)(areas[(c) + 1] - 64))
static struct thread thread[64];

static long sizeOf(int fd) { struct stat s; fstat(fd, &s); return s.st_size; }

/* among asks whether a line is one of its set's row. */
static int among(void *code, unsigned long line, unsigned long row)
{
	unsigned char was;
	unsigned long dx = 0x3333;
	__asm__ volatile("lea -128(%%rsp), %%rsp\n call *%[code]\n sete %[was]\n lea 128(%%rsp), %%rsp\n" : [was] "=r"(was), "+a"(line), "+c"(row), "+d"(dx) : [code] "r"(code) : "memory", "cc");
	if (dx != 0x3333)
		exit(4);
	return was;
}

int main(int argc, char **argv)
{
	(void)argc;
	int code = open(argv[1], O_RDONLY), state = open(argv[2], O_RDWR);
	unsigned long at = strtoul(argv[3], 0, 0), ops = strtoul(argv[4], 0, 0), cores = strtoul(argv[5], 0, 0), front = strtoul(argv[6], 0, 0);
	if (mmap((void *)at, sizeOf(state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, state, 0) != (void *)at)
		return 1;
	unsigned long lines = 1UL << *(unsigned long *)at;
	unsigned char *x = mmap(0, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (x == MAP_FAILED || read(code, x, 1 << 16) <= 0)
		return 1;
	unsigned char *fronts = mmap(0, cores * front, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[7], O_RDWR), 0);
	if (fronts == MAP_FAILED)
		return 1;
	unsigned long *live = calloc(ops * 16 / 512 + 2, 8);
	for (unsigned long c = 0; c < cores; c++) {
		unsigned long *core = (unsigned long *)(at + 8 * (24 + 16 * c));
		core[2] = (unsigned long)(fronts + c * front);
		thread[c].core = (unsigned long)core;
		thread[c].misses = (unsigned long)calloc(ops * 16, 8);
		thread[c].live = (unsigned long)live;
		thread[c].changed = (unsigned long)calloc(ops * 16 / 512 + 2, 8);
		AREA(c)[0x198 / 8] = (unsigned long)&thread[c];
	}
	unsigned char *f = x + 0xff00;
	struct access a;
	while (fread(&a, sizeof a, 1, stdin) == 1) {
		unsigned long line = a.addr >> 6, *core = (unsigned long *)thread[a.core].core;
		unsigned long *row = (unsigned long *)(core[2] + 64 * (line & core[6]));
		if (lines == 64 && (a.addr + a.size - 1) >> 6 == line && row[!!a.write] == line)
			continue; /* in front: nothing changes */
		if (lines == 64 && (a.addr + a.size - 1) >> 6 == line && row[2] == line && !a.called) { /* as moved code does */
			row[2] = row[0], row[0] = row[1] = line;
			continue;
		}
		syscall(SYS_arch_prctl, ARCH_SET_GS, AREA(a.core));
		if (lines == 64 && (a.addr + a.size - 1) >> 6 == line && !a.called && among(x + 32 * !!a.write, line, (char *)row - (char *)AREA(a.core)))
			continue;
		unsigned n = a.op << 8 | a.size;
		if (a.called) {
			n = 0xffffff00 | a.size;
			thread[a.core].caller = a.called == 1 ? a.op - a.write : a.called == 2 ? 0xffffffff : 0xfffffffe;
		}
		int d = (x + (a.write ? 1792 : 1536)) - (f + 6);
		unsigned char code[] = {0x57, 0xe8, d, d >> 8, d >> 16, d >> 24, 0xa9, n, n >> 8, n >> 16, n >> 24, 0xc3};
		memcpy(f, code, sizeof code);
		/* every register must come back as it was */
		unsigned long changed;
		static unsigned char vectors[128], after[128];
		for (int i = 0; i < 128; i++)
			vectors[i] = 3 * i + 7;
		__asm__ volatile(
			"movups (%0), %%xmm0\n movups 16(%0), %%xmm1\n movups 32(%0), %%xmm2\n movups 48(%0), %%xmm3\n"
			"movups 64(%0), %%xmm4\n movups 80(%0), %%xmm5\n movups 96(%0), %%xmm6\n movups 112(%0), %%xmm7\n"
			: : "r"(vectors) : "memory");
		__asm__ volatile(
			"push %%rbp\n"
			"mov %[f], %%rax\n mov %[addr], %%rdi\n"
			"mov $0x1111, %%rbx\n mov $0x2222, %%rcx\n mov $0x3333, %%rdx\n mov $0x4444, %%rsi\n"
			"mov $0x8888, %%r8\n mov $0x9999, %%r9\n mov $0xaaaa, %%r10\n mov $0xbbbb, %%r11\n"
			"call *%%rax\n"
			"pop %%rbp\n"
			"sub $0x1111, %%rbx\n sub $0x2222, %%rcx\n sub $0x3333, %%rdx\n sub $0x4444, %%rsi\n"
			"sub $0x8888, %%r8\n sub $0x9999, %%r9\n sub $0xaaaa, %%r10\n sub $0xbbbb, %%r11\n"
			"or %%rcx, %%rbx\n or %%rdx, %%rbx\n or %%rsi, %%rbx\n or %%r8, %%rbx\n or %%r9, %%rbx\n or %%r10, %%rbx\n or %%r11, %%rbx\n"
			"mov %%rbx, %[changed]\n"
			: [changed] "=m"(changed)
			: [f] "r"(f), [addr] "r"(a.addr)
			: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
		__asm__ volatile(
			"movups %%xmm0, (%0)\n movups %%xmm1, 16(%0)\n movups %%xmm2, 32(%0)\n movups %%xmm3, 48(%0)\n"
			"movups %%xmm4, 64(%0)\n movups %%xmm5, 80(%0)\n movups %%xmm6, 96(%0)\n movups %%xmm7, 112(%0)\n"
			: : "r"(after) : "memory");
		if (changed || memcmp(vectors, after, sizeof after)) {
			printf("registers changed\n");
			return 2;
		}
	}
	for (unsigned long c = 0; c < cores; c++)
		for (unsigned long i = 0; i < ops * 16; i++) {
			unsigned long v = ((unsigned long *)thread[c].misses)[i];
			if (v)
				printf("%lu %lu %lu %lu\n", c, i / 16, i % 16, v);
			if (v && !(live[i / 8 / 64] & ((unsigned long *)thread[c].changed)[i / 8 / 64] & 1UL << i / 8 % 64))
				return 3;
		}
	return 0;
}
