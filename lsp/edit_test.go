package lsp

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// pieces are what random texts are made of: of one, two, three and four bytes,
// one and two units of UTF-16, and both ways to end a line.
var pieces = []string{"a", "bc", " ", "\t", "ü", "€", "🙂", "𝄞", "\n", "\r\n", "if (x)", "\n\n"}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// randomPoint is where an editor can put its cursor: not within a character,
// nor within a line end.
func randomPoint(r *rand.Rand, t *text) point {
	l := r.IntN(t.lines())
	line := t.line(l)
	c := r.IntN(len(line) + 1)
	for c < len(line) && !utf8.RuneStart(line[c]) {
		c++
	}
	return point{l, c}
}

// Points move as the characters do that they stand for: compared with a text
// of which every byte carries its own number.
func TestPointsMoveWithTheirCharacters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		old := newText(randomText(r, 60))
		ids := make([]int, len(old.s))
		for i := range ids {
			ids[i] = i
		}
		cur := old
		type tracked struct {
			id  int // of its byte; -1: deleted
			now point
		}
		var points []tracked
		for range 8 {
			p := randomPoint(r, old)
			if o := old.offset(p); o < len(old.s) && p.col < len(old.line(p.line)) {
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
			next, e := cur.replace(a, b, insert)
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
						t.Fatalf("round %d: a deleted point is at %v, not at %v", round, q, e.from)
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
		a := newText(randomText(r, 40))
		s := a.s
		if r.IntN(3) > 0 { // a small edit of it
			i := r.IntN(len(s) + 1)
			j := i + r.IntN(len(s)-i+1)
			s = s[:i] + randomText(r, 5) + s[j:]
		} else {
			s = randomText(r, 40)
		}
		b := newText(s)
		from, to, insert := change(a, b)
		if got, _ := a.replace(from, to, insert); got.s != s {
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
		for _, e := range []encoding{utf8e, utf16, utf32} {
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
		if got, want := utf16.units(line, len(line)), len16(line); got != want {
			t.Fatalf("%q has %d units, want %d", line, got, want)
		}
	}
	if utf16.column("a🙂b", 2) != 1 { // within the pair
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
		x := newText(s)
		got := ""
		for i := range x.lines() {
			got += x.line(i) + "|"
		}
		if got != want {
			t.Errorf("%q has lines %q, want %q", s, got, want)
		}
	}
}

// A formatter that replaces everything, a move of lines, a paste over them:
// the finding stays with its line.
func TestAnchorsFindTheirLines(t *testing.T) {
	old := newText("a\nb\n  guilty();\nc\nd\n")
	for name, c := range map[string]struct {
		from, to point
		insert   string
		want     int
	}{
		"replaced with the same":      {point{1, 0}, point{4, 0}, "b\nx\n    guilty();\nc\n", 3},
		"the line alone, reformatted": {point{2, 0}, point{2, 11}, "\tguilty();", 2},
		"deleted":                     {point{1, 0}, point{4, 0}, "", 1},
		"everything replaced":         {point{0, 0}, point{5, 0}, "guilty();\n", 0},
		"everything deleted":          {point{0, 0}, point{5, 0}, "", 0},
	} {
		a := &anchor{now: point{2, 2}}
		next, e := old.replace(c.from, c.to, c.insert)
		a.follow(e, old, next)
		if a.now.line != c.want || a.now.col > len(next.line(a.now.line)) {
			t.Errorf("%s: at %v, want line %d", name, a.now, c.want)
		}
	}
}

// 200 edits as fast as they can be sent, with questions between them: 200
// publishes, one for each, in their order, each with the finding where the text
// had it then.
func TestEditStorm(t *testing.T) {
	dir := workspace(t)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	path := filepath.Join(dir, "skewed.c")
	c.open(path)
	c.command("skewlens.profileTarget")
	c.await(map[string]any{"method": "textDocument/publishDiagnostics"})
	model := newText(string(must(readBounded(path, maxSource))))
	r := rand.New(rand.NewPCG(7, 8))
	const edits = 200
	line := 6
	var want [edits]int // the finding's line after each edit
	for v := range edits {
		at := r.IntN(line + 1)
		insert, to := "// 🙂\n", point{at, 0}
		if at < line && r.IntN(2) == 0 {
			insert, to = "", point{at + 1, 0}
			line -= 2
		}
		line++
		want[v] = line
		c.tell("textDocument/didChange", object{"textDocument": object{"uri": fileURI(path), "version": v + 2}, "contentChanges": []object{
			{"range": span{Start: position{Line: uint32(at)}, End: position{Line: uint32(to.line)}}, "text": insert}}})
		c.send(message{"id": v, "method": "textDocument/codeLens", "params": docOf(path)})
		model, _ = model.replace(point{at, 0}, to, insert)
		if !strings.Contains(model.line(line), "planted") {
			t.Fatalf("the test's own model is wrong: %q", model.line(line))
		}
	}
	for v := range edits {
		got := c.await(map[string]any{"method": "textDocument/publishDiagnostics"})["params"]
		where := map[string]any{"start": map[string]any{"line": float64(want[v]), "character": 2.0}}
		if !matches(got, any(map[string]any{"version": float64(v + 2), "diagnostics": []any{map[string]any{"range": where}}})) {
			t.Fatalf("edit %d: want line %d, got %s", v, want[v], textual(got))
		}
	}
	for v := range edits {
		c.await(map[string]any{"id": float64(v), "jsonrpc": "2.0"})
	}
	got := c.call("textDocument/inlayHint", object{"textDocument": object{"uri": fileURI(path)}, "range": span{End: position{Line: 9999}}})
	if !strings.Contains(textual(got), fmt.Sprintf(`"line":%d`, line)) {
		t.Errorf("the hint is not on line %d: %s", line, textual(got))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		if m["method"] == "textDocument/publishDiagnostics" {
			t.Errorf("published once more: %s", textual(m))
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
