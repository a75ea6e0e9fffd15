package image

import "testing"

func TestOpenSelf(t *testing.T) {
	im, err := Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if !im.HasGo || len(im.Funcs) < 1000 {
		t.Errorf("HasGo %v, %d functions", im.HasGo, len(im.Funcs))
	}
}
