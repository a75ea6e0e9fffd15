package proctest

import (
	"debug/elf"
	"maps"
	"testing"
)

// TestReadCallgrind reads counts of the program's own code: not a library's,
// and not what a call cost as a whole.
func TestReadCallgrind(t *testing.T) {
	path := Source(t, "out", `version: 1
positions: instr line
events: Ir
ob=/lib/other.so
fn=f
0x10 5 100
ob=/home/me/prog
fn=main
0x1000 1 7
0x1004 2 8
calls=3 0x2000
0x1004 2 900
0x1004 3 1
ob=/lib/other.so
0x1000 1 50
`)
	got := readCallgrind(t, path, "prog")
	if want := map[uint64]uint64{0x1000: 7, 0x1004: 9}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestCacheMisses: a program that reads a megabyte misses each of its lines.
func TestCacheMisses(t *testing.T) {
	Need(t, "valgrind")
	prog := Build(t, "gcc", "-O1", Source(t, "reads.c", `
static char a[1 << 20];
int main(void) { int s = 0; for (int i = 0; i < 1 << 20; i += 8) s += *(volatile char *)&a[i]; return s; }`))
	first, last, _ := CacheMisses(t, "8192,4,64", "262144,8,64", prog)
	if want := uint64(1 << 20 / 64); first < want || first > want+100 || last < want || last > want+100 {
		t.Errorf("%d and %d misses, want %d", first, last, want)
	}
}

// TestRebase finds where valgrind loads programs.
func TestRebase(t *testing.T) {
	for _, bias := range []uint64{0, 0x108000, 0x4000000} {
		all := []map[uint64]uint64{{bias + 0x1000: 1}, {bias + 0x2000: 2}}
		rebase(t, all, 0x1000)
		if all[0][0x1000] != 1 || all[1][0x2000] != 2 {
			t.Errorf("loaded at %#x: %v", bias, all)
		}
	}
}

func TestDescribe(t *testing.T) {
	if got := Describe(map[uint64][2]uint64{0x20: {3, 4}, 0x10: {1, 2}}); got != " 0x10: 1, callgrind 2; 0x20: 3, callgrind 4;" {
		t.Errorf("%q", got)
	}
	many := map[uint64][2]uint64{}
	for i := range uint64(9) {
		many[i] = [2]uint64{}
	}
	if got := Describe(many); got[len(got)-len(" … 9 in all"):] != " … 9 in all" {
		t.Errorf("%q", got)
	}
}

// TestCallgrind counts a loop whose count is known.
func TestCallgrind(t *testing.T) {
	Need(t, "valgrind")
	prog := Build(t, "gcc", Source(t, "loop.s", `
	.section .note.GNU-stack, ""
	.text
	.globl main, head
main:
	mov $12345, %ecx
head:
	dec %ecx
	jne head
	xor %eax, %eax
	ret
`))
	f, err := elf.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	for _, s := range syms {
		at[s.Name] = s.Value
	}
	counts := Callgrind(t, at["main"], prog)
	if len(counts) != 1 || counts[0][at["head"]] != 12345 || counts[0][at["main"]] != 1 {
		t.Errorf("head, at %#x, in %v", at["head"], counts)
	}
}

// TestReadTotals reads what cachegrind counted in all.
func TestReadTotals(t *testing.T) {
	got := readTotals(t, "desc: D1 cache: 32768 B\nevents: Ir D1mr D1mw \nfl=x.c\nfn=f\n3 1 2 3\nsummary: 10 20 30\n")
	if want := map[string]uint64{"Ir": 10, "D1mr": 20, "D1mw": 30}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestCachegrind: a program that copies a megabyte reads and writes each of its lines.
func TestCachegrind(t *testing.T) {
	Need(t, "valgrind")
	prog := Build(t, "gcc", "-O1", Source(t, "copies.c", `
#include <string.h>
static char a[1 << 20], b[1 << 20];
int main(void) { memcpy(a, b, sizeof a); return a[77]; }`))
	got := Cachegrind(t, "32768,8,64", "262144,8,64", nil, prog)
	for _, e := range []string{"D1mr", "D1mw", "DLmr", "DLmw"} {
		if want := uint64(1 << 20 / 64); got[e] < want || got[e] > want+3000 {
			t.Errorf("%s is %d, want %d and what happens before", e, got[e], want)
		}
	}
}
