package x86

import "testing"

func TestIndexFits(t *testing.T) {
	if len(ops) > 255 {
		t.Fatalf("%d distinct ops do not fit a byte", len(ops))
	}
}
