/* Calls across a library's edge, for library_test.go: each as often as its name's comment says. */
#include <stdint.h>

__attribute__((noinline)) uint64_t lib_plain(uint64_t x) { return x * 3 + 1; } /* the program 100, lib_chain 100 × 2 */

uint64_t lib_chain(uint64_t x) { return lib_plain(x) + lib_plain(x + 1); } /* the program 100: through the library's own slot */

uint64_t lib_back(uint64_t x, uint64_t (*f)(uint64_t)) { return f(x) + 1; } /* the program 100 */

uint64_t lib_tail(uint64_t x) { return x ^ 5; } /* prog_tail 100 */

uint64_t lib_taken(uint64_t x) { return x + 7; } /* through a pointer 100 */

static uint64_t one(uint64_t x) { return x + 1; } /* the program 100, as lib_chosen */
static uint64_t (*choose(void))(uint64_t) { return one; }
uint64_t lib_chosen(uint64_t x) __attribute__((ifunc("choose")));

uint64_t lib_replaced(uint64_t x) { return x; } /* never: the program has one of its own */
uint64_t lib_asks(uint64_t x) { return lib_replaced(x); } /* the program 100 */
