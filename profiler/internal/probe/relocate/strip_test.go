package relocate

import (
	"fmt"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
)

// TestStrips: of which loops rounds are told apart, by which register.
func TestStrips(t *testing.T) {
	end := []byte{0x48, 0x39, 0xf1, 0x75, 0x80} // cmp %rsi,%rcx; jne
	for _, c := range []struct {
		name string
		code []byte
		want string
	}{
		{"an index", []byte{
			0xf2, 0x0f, 0x10, 0x04, 0xc7, // movsd (%rdi,%rax,8),%xmm0
			0x48, 0x83, 0xc0, 0x01, // add $1,%rax
		}, "r0 +1 at 0: [8]"},
		{"one that is added to before", []byte{
			0x48, 0x83, 0xc0, 0x02, // add $2,%rax
			0x8b, 0x54, 0x87, 0xf8, // mov -8(%rdi,%rax,4),%edx
		}, "r0 +2 at 2: [8]"},
		{"a pointer that goes down", []byte{
			0x48, 0x83, 0xef, 0x08, // sub $8,%rdi
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
		}, "r7 -8 at -8: [-8]"},
		{"two steps, and what stays", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x03, 0x02, // add (%rdx),%eax
			0x41, 0x88, 0x00, // mov %al,(%r8)
			0x48, 0x83, 0xc7, 0x08, // add $8,%rdi
			0x49, 0xff, 0xc0, // inc %r8: by which nothing is known to be added
			0x49, 0x83, 0xc1, 0x01, // add $1,%r9
		}, "none"},
		{"the same, by additions", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x03, 0x02, // add (%rdx),%eax
			0x41, 0x88, 0x00, // mov %al,(%r8)
			0x48, 0x83, 0xc7, 0x08, // add $8,%rdi
			0x49, 0x83, 0xc0, 0x01, // add $1,%r8
		}, "r8 +1 at 0: [8 0 1]"},
		{"three rounds", []byte{
			0x48, 0x8b, 0x14, 0x07, // mov (%rdi,%rax),%rdx
			0x48, 0x83, 0xc0, 0x08, // add $8,%rax
			0x48, 0x83, 0xf8, 0x18, // cmp $24,%rax
			0x75, 0x80, // jne
		}, "none"},
		{"twenty rounds", []byte{
			0x48, 0x8b, 0x14, 0x07, // mov (%rdi,%rax),%rdx
			0x48, 0x83, 0xc0, 0x08, // add $8,%rax
			0x48, 0x81, 0xf8, 0xa0, 0x00, 0x00, 0x00, // cmp $160,%rax
			0x75, 0x80, // jne
		}, "r0 +8 at 0: [8]"},
		{"a line each", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x48, 0x83, 0xc7, 0x40, // add $64,%rdi
		}, "none"},
		{"too many lines", []byte{
			0x48, 0x8b, 0x14, 0xc7, // mov (%rdi,%rax,8),%rdx
			0x49, 0x03, 0x14, 0xc0, // add (%r8,%rax,8),%rdx
			0x49, 0x03, 0x14, 0xc1, // add (%r9,%rax,8),%rdx
			0x49, 0x03, 0x14, 0xc2, // add (%r10,%rax,8),%rdx
			0x49, 0x89, 0x14, 0xc3, // mov %rdx,(%r11,%rax,8)
			0x48, 0x83, 0xc0, 0x01, // add $1,%rax
		}, "none"},
		{"32 bits", []byte{
			0x8b, 0x14, 0x87, // mov (%rdi,%rax,4),%edx
			0x83, 0xc0, 0x01, // add $1,%eax
		}, "none"},
		{"what stays only", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x48, 0x83, 0xc2, 0x01, // add $1,%rdx
		}, "none"},
		{"a list", []byte{0x48, 0x8b, 0x3f}, "none"}, // mov (%rdi),%rdi
		{"a table", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x48, 0x8b, 0x10, // mov (%rax),%rdx
			0x48, 0x83, 0xc7, 0x08, // add $8,%rdi
		}, "none"},
		{"the stack moves", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x50,                   // push %rax
			0x48, 0x83, 0xc7, 0x08, // add $8,%rdi
		}, "none"},
	} {
		for _, other := range []string{"", "no loop", "red zone", "told"} {
			code := c.code
			if code[len(code)-2] != 0x75 {
				code = append(code, end...)
			}
			b := straight(t, code...)
			b.Succ = []*cfg.Edge{{From: b, To: b}, {From: b}}
			if other == "no loop" {
				b.Succ = b.Succ[1:]
			}
			s := accesses{spare: 3, tells: other == "told", line: 64}
			if other == "red zone" {
				s.spare = 2
			}
			g := &cfg.Graph{Blocks: []*cfg.Block{b}}
			g.LiveRegisters(&s.regs)
			s.first(g, 0)
			s.gather(b)
			got, want := "none", c.want
			if st := s.strip; st != nil {
				got = fmt.Sprintf("r%d %+d at %d: %v", st.reg, st.step, st.off, st.steps)
			}
			if other != "" {
				want = "none"
			}
			if got != want {
				t.Errorf("%s %s: %s, want %s", c.name, other, got, want)
			}
		}
	}
}
