package profiler

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
)

// answers are all that can be asked of a function's addresses.
func answers(t *testing.T, path, dir string, f *image.Func) (all []any, l *Lines) {
	t.Helper()
	l, err := openLines(path, dir)
	if err != nil {
		t.Fatal(err)
	}
	for a := profile.Addr(f.Addr); a < profile.Addr(f.End()); a++ {
		all = append(all, l.Locate(a), l.Entry(a), l.Statement(a, a+9), l.Statement(a, a+1), l.Key(a))
	}
	return append(all, l.Locate(1), l.Statement(5, 9), l.Warnings()), l
}

// What was kept says what the file says, without reading it; nothing is kept of doubtful
// files, nor taken of broken ones or of a program that has changed.
func TestKeptPlaces(t *testing.T) {
	const inlines = "#include <stdlib.h>\nstatic inline int g(int x) { return abs(x) * 3; }\nstatic inline int h(int x) {\n\treturn g(x) + g(x + 1);\n}\nint f(int x) {\n\tfor (int i = 0; i < x; i++)\n\t\tx += h(i) ^ x;\n\treturn x;\n}\nint main(int n, char **v) { return f(n); }\n"
	const omp = "int a[100];\nint f(int x) {\n#pragma omp parallel\n\t{\n#pragma omp for\n\t\tfor (int i = 0; i < 100; i++)\n\t\t\ta[i] += x;\n\t}\n\treturn a[x];\n}\nint main(void) { return f(1); }\n"
	for _, c := range []struct {
		name, source, flags string
		keeps               bool
	}{
		{"inlined", inlines, "-g -O2", true},
		{"compressed", inlines, "-g -O2 -gz", true},
		{"openmp", omp, "-g -fopenmp", true},
		{"split", inlines, "-g -O2 -gsplit-dwarf", true},
		{"split in doubt", inlines, "-O2 -gdwarf-4 -gsplit-dwarf", false},
		{"plain", inlines, "-O2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, _, f := built(t, "prog", c.source, strings.Fields(c.flags)...)
			dir := filepath.Join(t.TempDir(), "new")
			want, l := answers(t, path, "", f)
			l.Close()
			same := func(what string, reads bool) {
				t.Helper()
				got, l := answers(t, path, dir, f)
				defer l.Close()
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: other places", what)
				}
				if l.files[0].Read() != reads {
					t.Errorf("%s: reads the file: %v, want %v", what, !reads, reads)
				}
				l.keep(&profile.Profile{})
			}
			same("first", true)
			same("second", !c.keeps)
			files, _ := filepath.Glob(filepath.Join(dir, "places-*"))
			if c.keeps != (len(files) == 1) {
				t.Fatalf("kept are %v", files)
			}
			if !c.keeps {
				return
			}
			b, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			if err := os.WriteFile(files[0], b, 0o600); err != nil {
				t.Fatal(err)
			}
			same("broken", true)
			same("kept anew", false)
			old := time.Unix(1e9, 0)
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
			same("changed", true)
		})
	}
}
