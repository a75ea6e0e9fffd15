package cpuclock

import (
	"maps"
	"testing"
)

// A sample behind an access to memory is the access's, but not where a jump ends, and not
// behind what jumps, calls or only computes.
func TestAccessesBefore(t *testing.T) {
	code := []byte{
		0x31, 0xc9, // 0: xor ecx, ecx
		0x48, 0x8b, 0x17, // 2: mov rdx, [rdi]
		0x48, 0x83, 0xc1, 0x01, // 5: add rcx, 1; the loop begins here
		0xf0, 0x48, 0x01, 0x17, // 9: lock add [rdi], rdx
		0x48, 0x39, 0xf1, // 13: cmp rcx, rsi
		0x75, 0xf3, // 16: jne 5
		0xff, 0x17, // 18: call [rdi]
		0xc6, 0x07, 0x01, // 20: mov byte [rdi], 1
		0xc3, // 23: ret
	}
	want := map[uint64]uint64{0x1000 + 13: 0x1000 + 9, 0x1000 + 23: 0x1000 + 20}
	if got := accessesBefore(code, 0x1000); !maps.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
	for name, b := range map[string][]byte{"cannot be decoded": {0x06}, "jumps by a table": {0xff, 0xe0}} {
		if got := accessesBefore(append(code, b...), 0x1000); len(got) > 0 {
			t.Errorf("of code that %s: %#x", name, got)
		}
	}
}

// Behind an access that is not known to be in one function, samples stay where they are.
func TestTookUnknown(t *testing.T) {
	m := &module{functions: []span{{0x1000, 0x1010}}, behind: map[uint64]map[uint64]uint64{0x1000: {0x1004: 0x1000}}}
	for at, want := range map[uint64]uint64{0x1004: 0x1000, 0x1005: 0x1005, 0xfff: 0xfff, 0x1010: 0x1010} {
		if got := m.took(at); got != want {
			t.Errorf("%#x: %#x, want %#x", at, got, want)
		}
	}
}
