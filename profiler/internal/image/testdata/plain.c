/* Imported functions, weak and local aliases, an ifunc, a function without a
   size, and one with two entries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int twice(int n) { return 2 * n; }
static int (*resolve(void))(int) { return twice; }
int chosen(int) __attribute__((ifunc("resolve")));

__attribute__((noinline)) int global_name(int n) { return n + 1; }
int weak_name(int) __attribute__((weak, alias("global_name")));
extern __typeof(global_name) local_name __attribute__((alias("global_name"), visibility("hidden")));

int sizeless(void), outer(void), inner(void);
__asm__(".text\n.globl sizeless\n.type sizeless,@function\nsizeless: xor %eax,%eax\nret\n"
        ".globl outer\n.type outer,@function\nouter: nop\nnop\n"
        ".globl inner\n.type inner,@function\ninner: xor %eax,%eax\nret\n.size inner, .-inner\nnop\n.size outer, .-outer\n");

int main(int argc, char **argv) {
  char *copy = strdup(argv[0]);
  printf("%s %d %d %d\n", copy, chosen(argc), weak_name(argc) + local_name(argc), sizeless() + outer() + inner());
  free(copy);
  return argc > 100 ? abs(atoi(argv[1])) : 0;
}
