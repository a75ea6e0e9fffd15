package dwarfmap

import "testing"

func TestCleanPath(t *testing.T) {
	for _, c := range []struct{ dir, name, want string }{
		{"/build", "a.c", "/build/a.c"},
		{"/build", "/src/a.c", "/src/a.c"},
		{"/build", "/build//src/a.c", "/src/a.c"}, // as debug/dwarf joins an absolute name of DWARF 5
		{"/build/", "/build//src/a.c", "/src/a.c"},
		{"/build", "/build/../src/a.c", "/src/a.c"},
		{"", "a.c", "a.c"},
		{"/build", "<artificial>", ""},
	} {
		if got := cleanPath(c.dir, c.name); got != c.want {
			t.Errorf("cleanPath(%q, %q) = %q, want %q", c.dir, c.name, got, c.want)
		}
	}
}
