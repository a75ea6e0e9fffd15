package dwarfmap

import "testing"

func TestCleanPath(t *testing.T) {
	for _, c := range []struct{ dir, unit, name, want string }{
		{"/build", "a.c", "a.c", "/build/a.c"},
		{"/build", "a.c", "/src/a.c", "/src/a.c"},
		{"/build", "/src/a.c", "/build/src/a.c", "/src/a.c"}, // as debug/dwarf joins an absolute name of DWARF 5
		{"/build", "/src/a.c", "/build/src/b.c", "/build/src/b.c"},
		{"/build", "a.c", "/build/../src/a.c", "/src/a.c"},
		{"", "a.c", "a.c", "a.c"},
		{"/build", "a.c", "<artificial>", ""},
	} {
		u := &unit{dir: c.dir, name: c.unit}
		if got := u.cleanPath(c.name); got != c.want {
			t.Errorf("%q in %q, unit %q: %q, want %q", c.name, c.dir, c.unit, got, c.want)
		}
	}
}
