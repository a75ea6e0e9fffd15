package blocking

import "testing"

// TestMayFilter: who can make the call and has what it is given.
func TestMayFilter(t *testing.T) {
	for body, want := range map[string]bool{
		"mov $22,%edi\nmov $157,%eax\nsyscall": true, "mov $38,%edi\nmov $157,%eax\nsyscall": true, "mov $317,%edi\nmov %rdi,%rax\nsyscall": true, "mov $157,%edi\nmov %rdi,%rax\nsyscall": true,
		"mov $1,%edi\nmov $317,%eax\nsyscall": true, "mov $22,%edi\nmov %rdi,%rax\nsyscall": false, // EINVAL
		"mov $15,%edi\nmov $157,%eax\nsyscall": false, "mov $22,%edi\nmov $39,%eax\nsyscall": false, "mov $22,%edi\nret": false, "mov $157,%eax\nsyscall": false,
	} {
		if im, _ := build(t, body); MayFilter(im) != want {
			t.Errorf("%q: %v", body, !want)
		}
	}
}

// TestMayFilterInGo: who gives such a number to what makes system calls, but for the
// standard library.
func TestMayFilterInGo(t *testing.T) {
	const others = "\n.pushsection .text.others,\"ax\"\n.type other,@function\nother: ret\n.size other,.-other\n" +
		".type \"unix.Syscall\",@function\n\"unix.Syscall\": syscall\nret\n.size \"unix.Syscall\",.-\"unix.Syscall\"\n" +
		".type \"syscall.fork\",@function\n\"syscall.fork\": mov $157,%eax\ncall \"unix.Syscall\"\nret\n.size \"syscall.fork\",.-\"syscall.fork\"\n.popsection"
	for body, want := range map[string]bool{
		"mov $317,%eax\ncall \"unix.Syscall\"": true, "mov $157,%eax\ncall \"unix.Syscall\"": true,
		"mov $39,%eax\ncall \"unix.Syscall\"": false, "mov $317,%eax\ncall other": false,
	} {
		if im, _ := build(t, body+others); MayFilterInGo(im) != want {
			t.Errorf("%q: %v", body, !want)
		}
	}
}
