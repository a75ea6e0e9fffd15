package cfg

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// source is an assembly file. Comments above `fun name` or `piece name` are the rule that the
// function is about; lines that begin with "#!" say how to build:
//
//	#! ld ARGS       how to link; a shared library where nothing is said, so that calls may be imports
//	#! strip         without symbols
//	#! catches NAME  a library function that may hold a thread
//	#! among FILE    another assembly file whose library runs beside
type source struct {
	file    string
	rule    string            // of the whole file
	rules   map[string]string // function → its rule
	ld      []string
	strip   bool
	catches []string
	among   []string
}

func readSource(t testing.TB, file string) *source {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &source{file: file, rules: map[string]string{}, ld: []string{"-shared", "-Bsymbolic"}}
	var above []string
	for i, l := range strings.Split(string(text), "\n") {
		switch words := strings.Fields(l); {
		case strings.HasPrefix(l, "#!"):
			switch words[1] {
			case "ld":
				s.ld = words[2:]
			case "strip":
				s.strip = true
			case "catches":
				s.catches = append(s.catches, words[2:]...)
			case "among":
				s.among = append(s.among, words[2:]...)
			default:
				t.Fatalf("%s:%d: %s?", file, i+1, l)
			}
		case strings.HasPrefix(l, "#"):
			above = append(above, strings.TrimSpace(l[1:]))
			continue
		case len(words) > 1 && slices.Contains([]string{"fun", "localfun", "piece"}, words[0]):
			s.rules[words[1]] = strings.Join(above, " ")
		case s.rule == "":
			s.rule = strings.Join(above, " ")
		}
		above = above[:0]
	}
	return s
}

// ruleOf is what a function is about.
func (s *source) ruleOf(name string) string {
	if r := s.rules[name]; r != "" {
		return name + ": " + r
	}
	return s.file + ": " + s.rule
}

// build assembles and links the source and makes a program of it.
func (s *source) build(t testing.TB) (*Program, *labels) {
	t.Helper()
	path := s.link(t)
	im := open(t, path)
	var among []*image.Image
	for _, other := range s.among {
		among = append(among, open(t, readSource(t, other).link(t)))
	}
	l := readLabels(t, path)
	if s.strip {
		im = open(t, stripped(t, path))
	}
	return Build(im, func(name string) bool { return slices.Contains(s.catches, name) }, among...), l
}

func (s *source) link(t testing.TB) string {
	t.Helper()
	proctest.Need(t, "as", "ld", "strip")
	o, out := filepath.Join(t.TempDir(), "x.o"), filepath.Join(t.TempDir(), "x")
	tool(t, "as", "--64", "-I", "testdata", "-o", o, s.file)
	tool(t, "ld", append([]string{"-m", "elf_x86_64", "-z", "noexecstack", "-o", out, o}, s.ld...)...)
	return out
}

func stripped(t testing.TB, path string) string {
	out := filepath.Join(t.TempDir(), "stripped")
	tool(t, "strip", "-o", out, path)
	return out
}

func tool(t testing.TB, name string, args ...string) {
	t.Helper()
	if msg, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, msg)
	}
}

// open reads a program or a shared library.
func open(t testing.TB, path string) *image.Image {
	t.Helper()
	im, err := image.OpenLibrary(path)
	if err != nil {
		im, err = image.Open(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// labels are the names that the source gives to addresses.
type labels struct {
	at   []uint64
	text map[uint64]string
}

func readLabels(t testing.TB, path string) *labels {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	l, funs := &labels{text: map[uint64]string{}}, map[uint64]bool{}
	for _, s := range syms {
		if int(s.Section) >= len(f.Sections) || s.Name == "" || s.Section == elf.SHN_UNDEF || f.Sections[s.Section].Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		if old, fun := l.text[s.Value], elf.ST_TYPE(s.Info) == elf.STT_FUNC; old == "" || fun && (!funs[s.Value] || s.Name < old) {
			funs[s.Value] = fun
			l.text[s.Value] = s.Name
		}
	}
	for a := range l.text {
		l.at = append(l.at, a)
	}
	slices.Sort(l.at)
	return l
}

// name is an address as label+offset.
func (l *labels) name(a uint64) string {
	i := sort.Search(len(l.at), func(i int) bool { return l.at[i] > a })
	switch {
	case i == 0:
		return "outside"
	case l.at[i-1] == a:
		return l.text[a]
	}
	return fmt.Sprintf("%s+%d", l.text[l.at[i-1]], a-l.at[i-1])
}

// names replaces the addresses in a text.
func (l *labels) names(s string) string {
	return regexp.MustCompile(`0x[0-9a-f]+`).ReplaceAllStringFunc(s, func(x string) string {
		a, _ := strconv.ParseUint(x, 0, 64)
		return l.name(a)
	})
}
