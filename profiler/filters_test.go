package profiler_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestFilters: a program that forbids itself system calls (seccomp), on pain of death,
// does not die of ours, whichever way and whenever it does so; and it is said that no CPU
// clock is read any more.
func TestFilters(t *testing.T) {
	for _, build := range [][]string{{"-O2"}, {"-O2", "-static"}} {
		prog := proctest.Build(t, "gcc", append(build, "-g", "-pthread", filepath.Join("testdata", "filters.c"))...)
		for _, how := range []string{"kill prctl early", "kill prctl late", "kill tsync early", "kill tsync late", "kill raw early", "errno prctl early", "trap tsync late", "strict prctl early"} {
			t.Run(how+"/"+build[len(build)-1], func(t *testing.T) {
				watch(t)
				p := same(t, prog, strings.Fields(how)...)
				if !slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == "cpu-clock" }) {
					t.Errorf("nothing is said of CPU clocks: %+v", p.Warnings)
				}
			})
		}
	}
}

// TestFiltersBefore: nothing is asked under a filter, of who lets another program take this
// one's place, or forbids itself more: what is asked with may be forbidden.
func TestFiltersBefore(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", proctest.Source(t, "before.c", `#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static int forbid(void)
{
	struct sock_filter f[] = {{0x20, 0, 0, 0}, {0x15, 2, 0, SYS_tgkill}, {0x15, 1, 0, SYS_gettid}, {0x06, 0, 0, SECCOMP_RET_ALLOW}, {0x06, 0, 0, SECCOMP_RET_KILL_PROCESS}};
	struct sock_fprog p = {5, f};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}
int main(int c, char **v)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("%d\n", forbid());
	if (c > 1)
		printf("%d\n", forbid());
	fflush(stdout);
	execl("/bin/echo", "echo", "there", NULL);
	return 1;
}
`))
	for _, how := range []string{"", "twice"} {
		t.Run(how, func(t *testing.T) {
			watch(t)
			same(t, prog, strings.Fields(how)...)
		})
	}
}

const filtersInGo = `package main

import (
	"os"
	"sync"
	"syscall"
	"unsafe"
)

type filter struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

type program struct {
	n uint16
	f *filter
}

//go:noinline
func work() (x uint64) {
	for k := range uint64(3000000) {
		x = x*6364136223846793005 + k
	}
	return x
}

func main() {
	f := []filter{{0x20, 0, 0, 0}, {0x15, 0, 1, syscall.SYS_CLOCK_GETTIME}, {0x06, 0, 0, 0x80000000}, {0x06, 0, 0, 0x7fff0000}}
	p := program{uint16(len(f)), &f[0]}
	const noNewPrivileges, seccomp, byFilter, allThreads = 38, 22, 2, 1
	syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivileges, 1, 0, 0, 0, 0)
	var err syscall.Errno
	if len(os.Args) > 1 {
		_, _, err = syscall.RawSyscall(317, 1, allThreads, uintptr(unsafe.Pointer(&p)))
	} else {
		_, _, err = syscall.RawSyscall(syscall.SYS_PRCTL, seccomp, byFilter, uintptr(unsafe.Pointer(&p)))
	}
	if err != 0 {
		panic(err)
	}
	var sums [4]uint64
	for range 4 {
		var all sync.WaitGroup
		for id := range sums {
			all.Add(1)
			go func() {
				defer all.Done()
				sums[id] += work()
			}()
		}
		all.Wait()
	}
	println(sums[3])
}
`

// TestFiltersInGo: neither does a program in Go.
func TestFiltersInGo(t *testing.T) {
	dir := goModule(t, filtersInGo)
	for _, flags := range []string{"-gcflags=", "-gcflags=all=-N -l"} {
		prog := buildGo(t, dir, flags)
		for _, how := range []string{"", "seccomp"} {
			t.Run(how+flags, func(t *testing.T) {
				p := same(t, prog, strings.Fields(how)...)
				if !slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == "cpu-clock" }) {
					t.Errorf("nothing is said of CPU clocks: %+v", p.Warnings)
				}
			})
		}
	}
}
