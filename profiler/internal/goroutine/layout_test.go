package goroutine

import (
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// All of a layout is kept, and less or more than was written is none.
func TestLayoutIsKept(t *testing.T) {
	var l Layout
	v := reflect.ValueOf(&l).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(1) << (3 * i % 64))
	}
	var w pack.Writer
	l.Pack(&w)
	if got, err := UnpackLayout(&pack.Reader{B: w.B}); err != nil || got != l {
		t.Errorf("%+v, %v, want %+v", got, err, l)
	}
	for n := range len(w.B) {
		if _, err := UnpackLayout(&pack.Reader{B: w.B[:n]}); err == nil {
			t.Errorf("the first %d of %d bytes are taken", n, len(w.B))
		}
	}
	if _, err := UnpackLayout(&pack.Reader{B: append(w.B, 0)}); err == nil {
		t.Error("a byte more is taken")
	}
}
