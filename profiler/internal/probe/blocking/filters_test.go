package blocking

import "testing"

// TestMayFilter: who can make the call and has what it is given.
func TestMayFilter(t *testing.T) {
	for body, want := range map[string]bool{
		"mov $22,%edi\nmov $157,%eax\nsyscall": true, "mov $38,%edi\nmov $157,%eax\nsyscall": true, "mov $317,%edi\nmov %rdi,%rax\nsyscall": true,
		"mov $15,%edi\nmov $157,%eax\nsyscall": false, "mov $22,%edi\nmov $39,%eax\nsyscall": false, "mov $22,%edi\nret": false, "mov $157,%eax\nsyscall": false,
	} {
		if im, _ := build(t, body); MayFilter(im) != want {
			t.Errorf("%q: %v", body, !want)
		}
	}
}
