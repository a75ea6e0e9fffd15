package cfg

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// shares is what the C library has: functions that share code, a lock's prefix that is
// jumped over, and tables of how far labels lie from another one.
const shares = `
	.text
.macro fun name
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
.endm
.macro end name
	.cfi_endproc
	.size \name, . - \name
.endm
fun moves
	mov %rdi, %rax
.Lmiddle:
	mov (%rsi), %rcx
	mov %rcx, (%rdi)
	mov 8(%rsi), %rcx
	mov %rcx, 8(%rdi)
	mov 16(%rsi), %rcx
	mov %rcx, 16(%rdi)
	ret
end moves
fun moves_to_end
	lea (%rdi,%rdx), %rax
	jmp .Lmiddle
end moves_to_end
fun checked
	cmp %rdx, %rcx
	jb moves
end checked
fun after
	mov (%rdi), %eax
	ret
end after
fun counts
	cmpl $0, %fs:0x18
	je 1f
	lock
1:	incl shared(%rip)
	mov $5, %eax
	ret
end counts
fun prints
	lea .Lbase(%rip), %rdx
	lea first(%rip), %rcx
	cmp $90, %edi
	ja .Lalone
	movzbl (%r8,%rdi), %edi
	movslq (%rcx,%rdi,4), %rax
	add %rdx, %rax
	cmp $100, %esi
	je .Lshared
	jmp *%rax
.Lbase:
	mov $1, %eax
	ret
.Lone:
	mov $2, %eax
	ret
.Ltwo:
	lea second(%rip), %rcx
	movslq (%rcx,%rsi,4), %rax
	add %rdx, %rax
	jmp *%rax
.Lthree:
	mov $3, %eax
	ret
.Lshared:
	mov $0, %esi
	jmp *%rax
.Lalone:
	mov %rdx, %rax
	ret
end prints
	.section .rodata
	.p2align 3
first:	.long .Lbase - .Lbase, .Lone - .Lbase, .Ltwo - .Lbase, .Lone - .Lbase
second:	.long .Lthree - .Lbase, .Lone - .Lbase
	.long 0x7fffffff
	.data
shared:	.long 0
	.section .note.GNU-stack,"",@progbits
`

// sharing is that, read as a library.
func sharing(t *testing.T) *image.Image {
	t.Helper()
	dir := t.TempDir()
	src, lib := filepath.Join(dir, "shares.s"), filepath.Join(dir, "libshares.so")
	if err := os.WriteFile(src, []byte(shares), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-nostdlib", "-Wl,-Bsymbolic", "-o", lib, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	im, err := image.OpenLibrary(lib)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestBuildSilent: of a library of which nothing is counted more can be moved; and what
// was found out is found again.
func TestBuildSilent(t *testing.T) {
	im := sharing(t)
	nothing := func(string) bool { return false }
	counted, silent := Build(im, nothing), BuildSilent(im, nothing)
	for name, want := range map[string][2]bool{"moves": {true, false}, "counts": {true, false}, "prints": {false, false}, "checked": {true, true}, "after": {false, false}} {
		x, y := find(t, counted, name), find(t, silent, name)
		if got := [2]bool{x.Skip != "", y.Skip != ""}; got != want {
			t.Errorf("%s stays: %v, want %v (%s; %s)", name, got, want, x.Skip, y.Skip)
		}
	}
	if f := find(t, silent, "checked"); !f.FallsOut() || find(t, silent, "after").FallsOut() || counted.Silent() || !silent.Silent() {
		t.Errorf("checked: %s", f.Skip)
	}
	var w pack.Writer
	silent.Pack(&w)
	again, err := Unpack(&pack.Reader{B: w.B}, im, nothing)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Program{silent, again} {
		moves := find(t, p, "moves")
		at := moves.Ranges[0].Lo + 3
		if g := p.Graph(moves, nil); !slices.Equal(moves.pads, []uint64{at}) || g.BlockAt(at) == nil || !g.BlockAt(at).Pad {
			t.Errorf("moves is entered at %#x, want %#x", moves.pads, at)
		}
		counts := p.Graph(find(t, p, "counts"), nil)
		if n := len(counts.Blocks); n != 2 || !counts.Blocks[1].Insns[0].Lock || counts.Edges[1].To != counts.Blocks[1] || counts.Edges[2].To != counts.Blocks[1] {
			t.Errorf("counts has %d blocks", n)
		}
		prints := find(t, p, "prints")
		sizes := map[int]int{}
		for _, targets := range prints.tables {
			sizes[len(targets)]++
		}
		// of the first table, of the second, which ends with what is none, and of both
		if len(prints.tables) != 3 || sizes[3] != 1 || sizes[2] != 1 || sizes[4] != 1 {
			t.Errorf("prints goes to %#x", prints.tables)
		}
	}
}

// TestCallsKernel: who makes system calls itself.
func TestCallsKernel(t *testing.T) {
	p, _ := readSource(t, "testdata/gates.s").build(t)
	for _, f := range p.Funcs {
		calls := false
		if f.Skip == "" {
			for _, b := range p.Blocks(f, nil).Blocks {
				for k := range b.Insns {
					is, _, _ := b.Syscall(k)
					calls = calls || is
				}
			}
			if f.CallsKernel() != calls {
				t.Errorf("%s: %v, want %v", f.Name, f.CallsKernel(), calls)
			}
		}
	}
}
