package pattern

import "testing"

// An expression is compiled when it is used, and once.
func TestNew(t *testing.T) {
	wrong := New(`(`) // nobody uses it
	x := New(`^a+$`)
	first, again := x(), x()
	if !first.MatchString("aa") || first.MatchString("ab") || first != again {
		t.Error("another expression, or it was compiled twice")
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was compiled")
		}
	}()
	wrong()
}
