/* Tries what the decoder claims of instructions on this processor.

   Each line of the input has an instruction and the claims: the bytes in hex,
   then in hex the registers used, defined, the base register's, the flags read
   and killed (bits CF PF AF ZF SF OF), whether it loads and stores, and in
   decimal its operand's displacement and size, 0 if that is not claimed. The
   instruction is run from several states, then with one register or flag
   changed at a time: what is not used or read must change nothing, what is
   killed or wholly defined must not show what was there before. An operand that
   ends where the memory does must be accessible, and one that ends a byte behind
   that must not. A line of output is a claim that does not hold. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef uint64_t u64;

struct state {
  u64 reg[16], flags;
};
struct state in, out;
u64 saved_rsp;
void *code_ptr;
extern char after[];
void run(void);

/* The state is loaded and stored through RIP-relative addresses, so that all
   registers but rsp are the instruction's. */
__asm__(".text\nrun:\n"
        "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, saved_rsp(%rip)\n"
        "push in+128(%rip)\npopfq\n"
        "mov in+0(%rip),%rax\nmov in+8(%rip),%rcx\nmov in+16(%rip),%rdx\nmov in+24(%rip),%rbx\n"
        "mov in+40(%rip),%rbp\nmov in+48(%rip),%rsi\nmov in+56(%rip),%rdi\n"
        "mov in+64(%rip),%r8\nmov in+72(%rip),%r9\nmov in+80(%rip),%r10\nmov in+88(%rip),%r11\n"
        "mov in+96(%rip),%r12\nmov in+104(%rip),%r13\nmov in+112(%rip),%r14\nmov in+120(%rip),%r15\n"
        "jmp *code_ptr(%rip)\n"
        ".globl after\nafter:\n"
        "mov %rax,out+0(%rip)\nmov %rcx,out+8(%rip)\nmov %rdx,out+16(%rip)\nmov %rbx,out+24(%rip)\n"
        "mov %rbp,out+40(%rip)\nmov %rsi,out+48(%rip)\nmov %rdi,out+56(%rip)\n"
        "mov %r8,out+64(%rip)\nmov %r9,out+72(%rip)\nmov %r10,out+80(%rip)\nmov %r11,out+88(%rip)\n"
        "mov %r12,out+96(%rip)\nmov %r13,out+104(%rip)\nmov %r14,out+112(%rip)\nmov %r15,out+120(%rip)\n"
        "mov saved_rsp(%rip),%rsp\n"
        "pushfq\npop out+128(%rip)\ncld\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n");

static sigjmp_buf trap;
static unsigned char *fault; /* the address that was not accessible, if it was that */
static void caught(int sig, siginfo_t *info, void *context) {
  fault = info->si_addr;
  siglongjmp(trap, sig);
}

enum { page = 4096 };
static unsigned char *buffer, *code, fresh[page];
static unsigned char fpu[16384] __attribute__((aligned(64)));

static u64 seed = 88172645463325252ull;
static u64 rnd(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

/* go runs the instruction from a state; it returns the signal, 0 if none. */
static int go(const struct state *s) {
  in = *s;
  memcpy(buffer, fresh, page);
  __asm__ volatile("xrstor %0" : : "m"(fpu), "a"(0xe7), "d"(0) : "memory");
  int sig = sigsetjmp(trap, 1);
  if (sig == 0) run();
  return sig;
}

static const int flag_bit[6] = {0, 2, 4, 6, 7, 11};

static u64 value(int kind, int r) {
  u64 pointer = (u64)buffer + page / 2 + (rnd() % 16) * 32;
  switch (kind) {
  case 0: return pointer;
  case 1: return rnd();
  case 2: return rnd() % 8;
  default: return r == 2 ? 0 : rnd() >> (rnd() % 64);
  }
}

/* beyond says whether an operand of that size, so many bytes behind the last
   place where there is memory for it, is more than there is: -1 if the
   instruction traps for another reason, such as alignment. */
static int beyond(unsigned base, long disp, int size, int behind) {
  struct state s = {.flags = 0x202};
  for (int r = 0; r < 16; r++)
    s.reg[r] = base >> r & 1 ? (u64)buffer + page - size + behind - disp : value(2, r);
  int sig = go(&s);
  if (sig == 0) return 0;
  return sig == SIGSEGV && fault >= buffer + page && fault < buffer + 2 * page ? 1 : -1;
}

int main(void) {
  unsigned char *m = mmap(0, 17 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  buffer = m + 8 * page;
  if (m == MAP_FAILED || mprotect(buffer, page, PROT_READ | PROT_WRITE)) return 2;
  code = mmap(0, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 2;
  for (int i = 0; i < page; i++) fresh[i] = rnd();
  stack_t alt = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&alt, 0);
  struct sigaction sa = {.sa_sigaction = caught, .sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO};
  int sigs[] = {SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP};
  for (int i = 0; i < 5; i++) sigaction(sigs[i], &sa, 0);
  for (int i = 0; i < 16; i++) ((u64 *)(fpu + 160))[i] = rnd(); /* some of xmm */
  __asm__ volatile("xsave %0" : "+m"(fpu) : "a"(0xe7), "d"(0) : "memory");

  char hex[40];
  unsigned use, def, base, rd, kill, loads, stores;
  long tried = 0, ran = 0, runs = 0, disp, sized = 0;
  int size;
  while (scanf("%39s %x %x %x %x %x %x %x %ld %d", hex, &use, &def, &base, &rd, &kill, &loads, &stores, &disp, &size) == 10) {
    int n = strlen(hex) / 2;
    for (int i = 0; i < n; i++) {
      unsigned b;
      sscanf(hex + 2 * i, "%2x", &b);
      code[i] = b;
    }
    unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};
    memcpy(code + n, jump, 6);
    void *to = after;
    memcpy(code + n + 6, &to, 8);
    code_ptr = code;
    tried++;
    int once = 0;
#define WRONG(...) (printf("%s: ", hex), printf(__VA_ARGS__), putchar('\n'))
    for (int kind = 0; kind < 4; kind++) {
      struct state s = {.flags = 0x202};
      for (int r = 0; r < 16; r++) s.reg[r] = value(base >> r & 1 ? 0 : kind, r);
      for (int f = 0; f < 6; f++) s.flags |= (rnd() & 1) << flag_bit[f];
      int sig = go(&s);
      if (sig == SIGILL) break;
      if (sig) continue;
      once = 1;
      runs++;
      struct state was = out;
      static unsigned char mem[page];
      memcpy(mem, buffer, page);
      if (!stores && memcmp(mem, fresh, page)) WRONG("stores");
      for (int r = 0; r < 16; r++)
        if (r != 4 && !(def >> r & 1) && was.reg[r] != s.reg[r]) WRONG("changes register %d", r);
      for (int c = 0; c < 16 + 6; c++) {
        struct state t = s;
        int f = c - 16, free;
        if (c == 4) continue;
        if (c < 16) {
          t.reg[c] = value(base >> c & 1 ? 0 : kind, c);
          free = !(use >> c & 1);
        } else {
          t.flags ^= 1 << flag_bit[f];
          free = !(rd >> f & 1);
        }
        if (!free) continue;
        if (go(&t)) {
          WRONG("traps only with another %s %d", f < 0 ? "register" : "flag", f < 0 ? c : f);
          continue;
        }
        runs++;
        if (memcmp(mem, buffer, page)) WRONG("memory depends on %s %d", f < 0 ? "register" : "flag", f < 0 ? c : f);
        for (int r = 0; r < 16; r++) {
          if (r == 4 || r == c && !(def >> r & 1)) continue;
          if (out.reg[r] != was.reg[r]) WRONG("register %d depends on %s %d", r, f < 0 ? "register" : "flag", f < 0 ? c : f);
        }
        for (int g = 0; g < 6; g++) {
          int differ = (out.flags ^ was.flags) >> flag_bit[g] & 1;
          if (g == f && !(kill >> g & 1)) continue;
          if (differ && (kill >> g & 1 || f < 0)) WRONG("flag %d depends on %s %d", g, f < 0 ? "register" : "flag", f < 0 ? c : f);
        }
      }
    }
    ran += once;
    if (!once || !size) continue;
    if (beyond(base, disp, size, 0) == 1) WRONG("accesses more than %d bytes", size);
    int more = beyond(base, disp, size, 1);
    if (more == 0) WRONG("accesses fewer than %d bytes", size);
    sized += more == 1;
  }
  fprintf(stderr, "%ld instructions, %ld of them run here, %ld runs, the operand's size seen of %ld\n", tried, ran, runs, sized);
  return 0;
}
