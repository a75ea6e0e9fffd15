package plot

import (
	"bytes"
	"strings"
	"testing"
)

// Lines whose work grows are drawn by name; without one there is no picture.
func TestLines(t *testing.T) {
	r := study(t)
	var b bytes.Buffer
	if err := WriteLines(&b, r, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">owner.c:12<", ">memcpy<", ">on 1 core<", ">more on 4<", "work of the line"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in the picture", want)
		}
	}
	if err := WriteLines(&b, r, "gif"); err == nil {
		t.Error("a picture of no format")
	}
	if r.Lines = nil; WriteLines(&b, r, "svg") == nil {
		t.Error("a picture of nothing")
	}
}
