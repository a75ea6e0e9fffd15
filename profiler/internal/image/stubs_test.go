package image

import (
	"encoding/hex"
	"strings"
	"testing"
)

// TestReadStub: the forms that linkers write, and what only looks like one.
func TestReadStub(t *testing.T) {
	const at = 0x1000
	for name, c := range map[string]struct {
		code      string
		slot, end uint64
		first     int
	}{
		"lazy":               {"ff25 00100000 6800000000 e900000000", 0x2006, 6, 0},
		"endbr64 and bnd":    {"f30f1efa f2ff25 00100000", 0x200b, 11, 0},
		"mold":               {"f30f1efa 41bb05000000 ff25 00100000", 0x2010, 16, 1},
		"lea":                {"4c8d1d00100000 ff25 00100000", 0x200d, 13, 1},
		"retpoline":          {"4c8b1d00100000 e800000000 e900000000", 0x2007, 7, 0},
		"not through a slot": {"ffe0", 0, 0, 0},
		"another register":   {"b805000000 ff25 00100000", 0, 0, 0},
		"a call":             {"e800000000", 0, 0, 0},
		"a function":         {"4c8b1d00100000 c3", 0, 0, 0},
		"cut":                {"41bb05", 0, 0, 0},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		s, ok := ReadStub(code, at)
		if ok != (c.slot != 0) || ok && (s.Slot != c.slot || s.End != at+c.end || len(s.First) != c.first) {
			t.Errorf("%s: %+v, %v", name, s, ok)
		}
	}
}
