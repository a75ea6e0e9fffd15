/* The program of liborder.c. */
#include <stdint.h>
#include <stdio.h>

extern uint64_t lib_plain(uint64_t), lib_chain(uint64_t), lib_back(uint64_t, uint64_t (*)(uint64_t));
extern uint64_t lib_tail(uint64_t), lib_taken(uint64_t), lib_chosen(uint64_t), lib_asks(uint64_t);

__attribute__((noinline)) static uint64_t prog_back(uint64_t x) { return x + 2; } /* lib_back 100 */
__attribute__((noinline)) static uint64_t prog_tail(uint64_t x) { return lib_tail(x + 1); }
uint64_t lib_replaced(uint64_t x) { return x + 3; } /* lib_asks 100 */

static uint64_t (*volatile pointer)(uint64_t) = lib_taken;

int main(void)
{
    uint64_t x = 1;
    for (int i = 0; i < 100; i++) {
        x += lib_plain(x) + lib_chain(x);
        x += lib_back(x, prog_back);
        x += prog_tail(x);
        x += pointer(x);
        x += lib_chosen(x);
        x += lib_asks(x);
    }
    printf("%d\n", (int)(x & 1));
    return 0;
}
