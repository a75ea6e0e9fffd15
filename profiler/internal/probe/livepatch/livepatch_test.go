package livepatch

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// text is a program's text as it runs, by link-time address.
type text map[uint64]byte

func (m text) write(addr uint64, b []byte) error {
	for i, x := range b {
		m[addr+uint64(i)] = x
	}
	return nil
}

func (m text) bytes(addr uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = m[addr+uint64(i)]
	}
	return b
}

// leads reports whether a thread that goes on at an address of the text comes
// to an offset of the cache, or does there what its copy at that offset does.
func (m text) leads(l *Patcher, addr, offset uint64) bool {
	in := l.insn(addr)
	begins, _ := l.find(offset)
	if l.preserved[addr] {
		return begins != nil && begins.Addr == addr && bytes.Equal(m.bytes(addr, in.Len()), in.Bytes) &&
			(in.Kind != x86.Normal || m.leads(l, in.End(), uint64(begins.End)))
	}
	if in != nil && in.Kind.IsCall() && begins != nil && begins.Addr == addr && m[addr] == in.Bytes[0] { // in place, but for its target
		return l.stays(in)
	}
	for range 2 {
		switch b := m.bytes(addr, 5); b[0] {
		case 0xcc:
			to, ok := l.Trapped(addr)
			return ok && to == offset
		case 0xeb:
			addr += 2 + uint64(int8(b[1]))
		case 0xe9:
			return l.c.Base+offset == addr+5+uint64(int32(binary.LittleEndian.Uint32(b[1:])))
		}
	}
	return false
}

// TestSpringboardsLeadBack interrupts a program at many places, at random, and
// checks that every address that a handler is shown leads back, also after all
// others were made, and that nothing was written over what executes.
func TestSpringboardsLeadBack(t *testing.T) {
	s := relocate.New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, probe.Options{}, relocate.Numbers{})
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	m := text{}
	for _, x := range s.Program.Image.Sections {
		if x.Exec {
			m.write(x.Addr, x.Data)
		}
	}
	for _, x := range c.Texts {
		m.write(x.Addr, x.New)
	}
	before := maps.Clone(m)
	l := New(s, c, m.write)
	r := rand.New(rand.NewPCG(5, 6))
	shown := map[uint64]uint64{} // address → offset
	refused := 0
	for range 300 {
		i := r.IntN(len(s.Plans()))
		for _, k := range s.Copied(c, i) {
			var a uint64
			ok := false
			switch r.IntN(6) {
			case 0:
				a, ok = l.Interrupted(uint64(k.Start), false, r.IntN(2) == 0)
			case 1:
				f, _ := l.Faulted(uint64(k.Start))
				a, ok = f.Addr, f.Redirected
			default:
				continue
			}
			if ok {
				shown[a] = uint64(k.Start)
			} else {
				refused++
			}
		}
	}
	for a, offset := range shown {
		if !m.leads(l, a, offset) {
			t.Errorf("%#x was shown for +%#x and does not lead back", a, offset)
		}
	}
	for a, b := range m {
		if before[a] != b && s.Uses(a) {
			t.Errorf("the byte at %#x executes and was written", a)
		}
	}
	t.Logf("%d addresses lead back, %d do not", len(shown), refused)
	if refused > len(shown) {
		t.Error("most addresses cannot be shown")
	}
}
