package image

import "testing"

func TestOpenSelf(t *testing.T) {
	im, err := Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if !im.HasGo {
		t.Error("a Go program without Go's function table")
	}
}
