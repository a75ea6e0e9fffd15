package cfg

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestTakes: which instructions take what threads share, and which give it back.
func TestTakes(t *testing.T) {
	for text, want := range map[string]bool{
		"f00fc107":        true,  // lock xadd %eax,(%rdi)
		"f00fb117":        true,  // lock cmpxchg %edx,(%rdi)
		"b801000000|8707": true,  // mov $1,%eax; xchg %eax,(%rdi)
		"31c0|8707":       false, // xor %eax,%eax; xchg %eax,(%rdi)
		"31c0|ffc0|8707":  true,  // … inc %eax …
		"31c9|8707":       true,  // another register
		"b800000000|8707": false, // mov $0,%eax
		"8707":            true,  // it is not known
		"f0ff0f":          false, // lock decl (%rdi): who does so learns little
		"f0830c2400":      false, // lock orl $0,(%rsp): a fence
	} {
		b := &Block{}
		code, err := hex.DecodeString(strings.ReplaceAll(text, "|", ""))
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(code); {
			in, err := x86.Decode(code[at:], uint64(at))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			b.Insns = append(b.Insns, in)
			at += in.Len()
		}
		if got := b.Takes(len(b.Insns) - 1); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
