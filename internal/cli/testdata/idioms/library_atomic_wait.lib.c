/* Waits of std::atomic as libstdc++ of gcc 16 has them, within the library. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

void _ZNSt8__detail11__wait_implEPKvRNS_16__wait_args_baseE(const int *at, const int *old)
{
    while (__atomic_load_n(at, __ATOMIC_ACQUIRE) == *old)
        syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, *old, 0, 0, 0);
}

void _ZNSt8__detail13__notify_implEPKvbRKNS_16__wait_args_baseE(const int *at, bool all, const int *old)
{
    (void)old;
    syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1, 0, 0, 0);
}
