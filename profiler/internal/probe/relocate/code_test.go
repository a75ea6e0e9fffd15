package relocate

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// TestLink: the copy comes in pieces of which none cuts a reference in two, and
// together they are what it is with every reference filled in.
func TestLink(t *testing.T) {
	layout := threadarea.NewLayout([]threadarea.Function{{Chords: 5, Sites: 3, Always: true}}, 2).WithCaches(4096)
	r := rand.New(rand.NewPCG(1, 13))
	for n := range 50 {
		c := &Code{Bytes: make([]byte, r.IntN(4*piece))}
		for i := range c.Bytes {
			c.Bytes[i] = byte(r.Uint32())
		}
		want := bytes.Clone(c.Bytes)
		var sites []siteRef
		for at := r.IntN(9); at+4 <= len(want); at += 4 + r.IntN(1<<r.IntN(13)) {
			x := siteRef{int32(at), refKind(r.IntN(int(toFront) + 1))}
			sites = append(sites, x)
			binary.LittleEndian.PutUint32(want[at:], binary.LittleEndian.Uint32(want[at:])+x.what.base(layout))
		}
		c.sites = packSites(sites)
		var got []byte
		err := c.Link(layout, func(b []byte, offset uint64) error {
			if offset != uint64(len(got)) || len(b) == 0 || len(b) > piece {
				t.Fatalf("%d: %d bytes at %d, behind %d", n, len(b), offset, len(got))
			}
			got = append(got, b...)
			return nil
		})
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d: other bytes (%v)", n, err)
		}
	}
	if !bytes.Equal(linked(&Code{Bytes: []byte{1, 0, 0, 0, 9}, sites: packSites([]siteRef{{0, toFront}})}, layout)[4:], []byte{9}) {
		t.Error("what is no reference changed")
	}
}

// linked is a copy as it runs.
func linked(c *Code, l threadarea.Layout) (code []byte) {
	_ = c.Link(l, func(b []byte, _ uint64) error {
		code = append(code, b...)
		return nil
	})
	return code
}
