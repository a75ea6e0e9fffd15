package pattern

import "testing"

// An expression is compiled when it is used, and once.
func TestNew(t *testing.T) {
	wrong := New(`(`) // nobody uses it
	x := New(`^a+$`)
	if !x().MatchString("aa") || x().MatchString("ab") || x() != x() {
		t.Error("another expression, or it was compiled twice")
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was compiled")
		}
	}()
	wrong()
}
