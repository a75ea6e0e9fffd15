package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

var pieces = []string{"a", "bc", " ", "\t", "ü", "€", "🙂", "𝄞", "\n", "\r\n", "if (x)", "\n\n"}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func randomPoint(r *rand.Rand, t *Text) Point {
	l := r.IntN(t.Lines())
	line := t.Line(l)
	c := r.IntN(len(line) + 1)
	for c < len(line) && !utf8.RuneStart(line[c]) {
		c++
	}
	return Point{l, c}
}

func TestPointsMoveWithTheirCharacters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		old := New(randomText(r, 60))
		ids := make([]int, len(old.s))
		for i := range ids {
			ids[i] = i
		}
		cur := old
		type tracked struct {
			id  int // of its byte; -1: deleted
			now Point
		}
		var points []tracked
		for range 8 {
			p := randomPoint(r, old)
			if o := old.offset(p); o < len(old.s) && p.Col < len(old.Line(p.Line)) {
				points = append(points, tracked{o, p})
			}
		}
		for range 6 {
			a, b := randomPoint(r, cur), randomPoint(r, cur)
			if b.before(a) {
				a, b = b, a
			}
			insert := randomText(r, 8)
			i, j := cur.offset(a), cur.offset(b)
			e := cur.replace(a, b, insert)
			next := e.New
			fresh := make([]int, len(insert))
			for k := range fresh {
				fresh[k] = -1
			}
			ids = append(append(append([]int(nil), ids[:i]...), fresh...), ids[j:]...)
			cur = next
			for k := range points {
				q, gone := e.move(points[k].now)
				points[k].now = q
				if points[k].id < 0 {
					continue
				}
				at := -1
				for o, id := range ids {
					if id == points[k].id {
						at = o
					}
				}
				if (at < 0) != gone {
					t.Fatalf("round %d: gone is %v, and the byte is at %d", round, gone, at)
				}
				if gone {
					if q != e.from {
						t.Fatalf("round %d: a deleted Point is at %v, not at %v", round, q, e.from)
					}
					points[k].id = -1
					continue
				}
				if cur.offset(q) != at {
					t.Fatalf("round %d: %v is byte %d, want %d of %q", round, q, cur.offset(q), at, cur.s)
				}
			}
		}
	}
}

func TestChangeMakesTheNewText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		a := New(randomText(r, 40))
		s := a.s
		if r.IntN(3) > 0 { // a small edit of it
			i := r.IntN(len(s) + 1)
			j := i + r.IntN(len(s)-i+1)
			s = s[:i] + randomText(r, 5) + s[j:]
		} else {
			s = randomText(r, 40)
		}
		b := New(s)
		from, to, insert := change(a, b)
		if got := a.replace(from, to, insert).New; got.s != s {
			t.Fatalf("%q to %q: replacing %v to %v by %q makes %q", a.s, s, from, to, insert, got.s)
		}
	}
}

func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		line := strings.NewReplacer("\r", "", "\n", "").Replace(randomText(r, 20))
		if r.IntN(4) == 0 {
			line += "\xff\xf0"
		}
		for _, e := range []Encoding{UTF8, UTF16, UTF32} {
			last := -1
			for col := range line {
				u := e.units(line, col)
				if u <= last || e.column(line, u) != col {
					t.Fatalf("%s of %q: byte %d is unit %d, and that is byte %d", e, line, col, u, e.column(line, u))
				}
				last = u
			}
			if e.column(line, 1<<20) != len(line) {
				t.Fatalf("%s of %q: what is beyond the line is byte %d", e, line, e.column(line, 1<<20))
			}
		}
		if got, want := UTF16.units(line, len(line)), len16(line); got != want {
			t.Fatalf("%q has %d units, want %d", line, got, want)
		}
	}
	if UTF16.column("a🙂b", 2) != 1 { // within the pair
		t.Error("a position within a character is its beginning")
	}
}

func len16(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

func TestLines(t *testing.T) {
	for s, want := range map[string]string{
		"": "|", "a": "a|", "a\n": "a||", "a\r\nb": "a|b|", "a\rb\n\rc": "a|b||c|", "\r\n\r\n": "|||",
	} {
		x := New(s)
		got := ""
		for i := range x.Lines() {
			got += x.Line(i) + "|"
		}
		if got != want {
			t.Errorf("%q has lines %q, want %q", s, got, want)
		}
	}
}

func TestAnchorsFindTheirLines(t *testing.T) {
	old := New("a\nb\n  guilty();\nc\nd\n")
	for name, c := range map[string]struct {
		from, to Point
		insert   string
		want     int
	}{
		"replaced with the same":      {Point{1, 0}, Point{4, 0}, "b\nx\n    guilty();\nc\n", 3},
		"the line alone, reformatted": {Point{2, 0}, Point{2, 11}, "\tguilty();", 2},
		"deleted":                     {Point{1, 0}, Point{4, 0}, "", 1},
		"everything replaced":         {Point{0, 0}, Point{5, 0}, "guilty();\n", 0},
		"everything deleted":          {Point{0, 0}, Point{5, 0}, "", 0},
	} {
		e := old.replace(c.from, c.to, c.insert)
		now := e.Follow(Point{2, 2})
		if now.Line != c.want || now.Col > len(e.New.Line(now.Line)) {
			t.Errorf("%s: at %v, want line %d", name, now, c.want)
		}
	}
}

// An edit of many lines takes a line that it changes along where its neighbours say which it
// is, as after a checkout of another branch; else nobody knows, and it is not there: it is not
// the first line of all that was replaced.
func TestLinesThatAreReplacedWithOthers(t *testing.T) {
	old := New("// of one\nvoid work(void)\n{\n\tfor (i = 0; i < 40; i++)\n\t\tsum += i;\n\tmeet();\n}\n")
	loop := Point{3, 1}
	for name, c := range map[string]struct {
		text  string
		want  int
		there bool
	}{
		"changed, and others above":       {"// of another\n// branch\nvoid work(void)\n{\n\tfor (i = 0; i < 50; i++)\n\t\tsum += i;\n\tmeet();\n}\n", 4, true},
		"formatted, with other spaces":    {"// of another\nvoid work(void) {\n  for (i=0; i<40; i++)\n    sum += 2 * i;\n  meet();\n}\n", 2, true},
		"nothing as it was":               {"int main(void)\n{\n\treturn 0;\n}\n", 0, false},
		"between braces, and the other":   {"// x\n{\n\twhile (1)\n\t\tpause();\n\tmeet(1);\n}\n", 0, false},
		"only one neighbour is there yet": {"// y\nvoid play(void)\n{\n\tdo_it();\n\tmeet(2);\n}\n", 0, false},
	} {
		for _, where := range []*protocol.Range{nil, {Start: protocol.Position{}, End: protocol.Position{Line: 99}}} {
			e := old.Apply(UTF16, where, c.text)
			got, there := e.Track(loop)
			if there != c.there || there && got.Line != c.want {
				t.Errorf("%s: line %d, there %v, want %d, %v", name, got.Line, there, c.want, c.there)
			}
		}
	}
	// What is left of a line that is cut in two, or joined with another, is still that line.
	for name, c := range map[string]struct {
		from, to Point
		insert   string
		want     int
	}{
		"its end is replaced":   {Point{3, 12}, Point{4, 3}, "j++)\n\t\tx", 3},
		"its start is replaced": {Point{2, 0}, Point{3, 5}, "x\ny\nwhile ", 4},
	} {
		e := old.replace(c.from, c.to, c.insert)
		if got, there := e.Track(Point{3, 1}); !there || got.Line != c.want {
			t.Errorf("%s: line %d, there %v, want %d", name, got.Line, there, c.want)
		}
	}
}

// A client's change comes with a range, with one of everything, or without:
// all make the same text, and what was not changed stays where it was.
func TestApply(t *testing.T) {
	old := New("a\n🙂b\nguilty();\nlast")
	at := func(l1, c1, l2, c2 uint32) *protocol.Range {
		return &protocol.Range{Start: protocol.Position{Line: l1, Character: c1}, End: protocol.Position{Line: l2, Character: c2}}
	}
	const want = "a\n🙂XX\nguilty();\nlast"
	for name, c := range map[string]struct {
		where  *protocol.Range
		insert string
	}{
		"a range":                 {at(1, 2, 1, 3), "XX"},
		"a range, backwards":      {at(1, 3, 1, 2), "XX"},
		"the whole text":          {nil, want},
		"a range that is all":     {at(0, 0, 3, 4), want},
		"a range beyond the text": {at(0, 0, 99, 0), want},
	} {
		e := old.Apply(UTF16, c.where, c.insert)
		if e.Old != old || e.New.String() != want {
			t.Errorf("%s made %q", name, e.New)
		}
		if p := e.Follow(Point{2, 3}); p != (Point{2, 3}) {
			t.Errorf("%s moved what it did not touch to %v", name, p)
		}
	}
}

func TestPositions(t *testing.T) {
	x := New("\t🙂 a \n")
	if p := x.Point(UTF16, protocol.Position{Line: 0, Character: 3}); p != (Point{0, 5}) {
		t.Errorf("the third unit is byte %v", p)
	}
	if p := x.Point(UTF8, protocol.Position{Line: 7}); p != (Point{1, 0}) {
		t.Errorf("beyond the end is %v", p)
	}
	for _, c := range []struct {
		e          Encoding
		start, end uint32
	}{{UTF8, 1, 7}, {UTF16, 1, 5}, {UTF32, 1, 4}} {
		if got := x.Words(c.e, 0); got.Start.Character != c.start || got.End.Character != c.end {
			t.Errorf("%s: the words are %v", c.e, got)
		}
	}
	if got := x.Words(UTF8, 99); got.Start != (protocol.Position{Line: 1}) || got.End != got.Start {
		t.Errorf("the words of a line that is none are %v", got)
	}
	if got := New("a\n🙂").End(UTF16); got != (protocol.Position{Line: 1, Character: 2}) {
		t.Errorf("the end is %v", got)
	}
	if x.Line(-1) != "" || x.Line(9) != "" {
		t.Error("a line that is none has text")
	}
	if x.Digest() != New(x.String()).Digest() || x.Digest() == New("").Digest() {
		t.Error("digests do not tell texts apart")
	}
}

func TestAgree(t *testing.T) {
	for _, c := range []struct {
		offered []string
		want    Encoding
	}{{nil, UTF16}, {[]string{"utf-7"}, UTF16}, {[]string{"utf-32", "utf-16"}, UTF16}, {[]string{"utf-32"}, UTF32}, {[]string{"utf-16", "utf-8"}, UTF8}} {
		if got := Agree(c.offered); got != c.want {
			t.Errorf("of %v %s was chosen, want %s", c.offered, got, c.want)
		}
	}
}

// In a text of another history an anchor is where its line is, the nearest one.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		anchor Anchor
		text   string
		want   Point
	}{
		{Anchor{Point{2, 4}, "guilty();"}, "a\nb\n    guilty();\n", Point{2, 4}},
		{Anchor{Point{2, 4}, "guilty();"}, "new\na\nb\n    guilty();\n", Point{3, 4}},
		{Anchor{Point{2, 4}, "guilty();"}, "guilty();\nx\nx\nx\nguilty();\n", Point{0, 4}},
		{Anchor{Point{2, 4}, "guilty();"}, "gone", Point{0, 4}},
		{Anchor{Point{2, 4}, ""}, "1\n2\n3", Point{2, 1}}, // its text is not known
	} {
		if got, _ := c.anchor.Settle(New(c.text)); got != c.want {
			t.Errorf("%+v in %q is at %v, want %v", c.anchor, c.text, got, c.want)
		}
	}
}

// Files are shown without what some programs write before them, and, in encodings of
// one byte a character, with as many characters.
func TestOfFile(t *testing.T) {
	for _, c := range []struct{ file, text, edited string }{
		{"int x;\n", "int x;\n", "int y;\n"},
		{"\ufeffint x;\n", "int x;\n", "int xx;\n"},
		{"// caf\xe9\nint x;\n", "// café\nint x;\n", "// café\nint y;\n"},
		{"// caf\xe9\nint x;\n", "// caf\ufffd\nint x;\n", "\n// café\nint x;\n"},
		{"// café\n", "// café\n", "// cafe\n"},
		{"int x;\r\nint y;\n", "int x;\r\nint y;\r\n", "int x;\r\nint z;\n"}, // lines of both kinds: an editor has one
		{"int x;\r\n// caf\xe9\n", "int x;\n// caf\ufffd\n", "int xy;\n"},
	} {
		data, shown := []byte(c.file), New(c.text)
		if !shown.Shows(data) || New(c.edited).Shows(data) {
			t.Errorf("%q: shown %v, edited %v", c.file, shown.Shows(data), New(c.edited).Shows(data))
		}
		of := OfFile(data)
		if of.Digest() != shown.Digest() || of.Digest() == New(c.edited).Digest() {
			t.Errorf("%q: digests", c.file)
		}
		if got, want := utf8.RuneCountInString(of.Line(0)), utf8.RuneCountInString(shown.Line(0)); got != want {
			t.Errorf("%q: %d characters in its first line, want %d", c.file, got, want)
		}
	}
}
