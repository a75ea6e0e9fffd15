package house

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mostFunctionLines = 60 // from func to the closing brace
	mostComplexity    = 25 // cognitive complexity, as gocognit counts it
)

// function is one of the functions that are not for tests.
type function struct {
	name  string // folder, receiver and name
	lines int
	doc   string // its comment, in one line
}

// functions are keyed by where they begin.
func functions(t *testing.T) map[token.Position]function {
	all := map[token.Position]function{}
	for _, f := range goFiles(t) {
		if f.test() {
			continue
		}
		for _, d := range f.syntax.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			at := f.pos.Position(d.Pos())
			all[token.Position{Filename: f.name, Line: at.Line}] = function{
				name:  f.folder() + " " + receiver(d) + d.Name.Name,
				lines: f.pos.Position(d.End()).Line - at.Line + 1,
				doc:   strings.Join(strings.Fields(d.Doc.Text()), " "),
			}
		}
	}
	return all
}

// receiver is "(*T)." for a method of *T, and "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	star, is := "", d.Recv.List[0].Type
	if p, ok := is.(*ast.StarExpr); ok {
		star, is = "*", p.X
	}
	if g, ok := is.(*ast.IndexExpr); ok {
		is = g.X
	}
	if id, ok := is.(*ast.Ident); ok {
		return "(" + star + id.Name + ")."
	}
	return "(?)."
}

// explained: is there a sentence that begins so?
func explained(doc, begins string) bool {
	return strings.HasPrefix(doc, begins) || strings.Contains(doc, ". "+begins) || strings.Contains(doc, ": "+begins)
}

func TestFunctionsAreShort(t *testing.T) {
	for _, f := range functions(t) {
		if f.lines > mostFunctionLines && !explained(f.doc, "Long because ") {
			t.Errorf("%s has %d lines, want at most %d, or a comment with a sentence that begins \"Long because\"", f.name, f.lines, mostFunctionLines)
		}
	}
}

func TestFunctionsAreSimple(t *testing.T) {
	of := functions(t)
	for _, s := range complexities(t) {
		path, err := filepath.Rel(root, s.Pos.Filename)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := of[token.Position{Filename: path, Line: s.Pos.Line}]
		if !ok {
			t.Fatalf("no function begins at %s:%d, where gocognit sees %s", path, s.Pos.Line, s.FuncName)
		}
		if !explained(f.doc, "Complex because ") {
			t.Errorf("%s has cognitive complexity %d, want at most %d, or a comment with a sentence that begins \"Complex because\"", f.name, s.Complexity, mostComplexity)
		}
	}
}

func TestReasonsAreSentences(t *testing.T) {
	for doc, want := range map[string]bool{
		"Long because a table is one thing.":         true,
		"f does. Long because of the states.":        true,
		"f does: Long because each case is one line": true,
		"f takes Long because it is slow":            false,
		"f is long because it is":                    false,
		"":                                           false,
	} {
		if explained(doc, "Long because ") != want {
			t.Errorf("%q: want %v", doc, want)
		}
	}
}

// complexity is what gocognit says of one function.
type complexity struct {
	FuncName   string
	Complexity int
	Pos        struct {
		Filename string
		Line     int
	}
}

// complexities are those above the limit.
func complexities(t *testing.T) []complexity {
	t.Helper()
	out, err := tool("gocognit", "-json", "-test=false", "-ignore", "/(testdata|node_modules)/", "-over", fmt.Sprint(mostComplexity), root)
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && strings.HasPrefix(string(out), "[")) { // status 1: there are some
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	var all []complexity
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatalf("gocognit -json: %v: %.200s", err, out)
	}
	return all
}

// tool runs a tool of tools/go.mod. Where it was never built, and the module
// proxy cannot be reached, it cannot run.
func tool(name string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", append([]string{"tool", "-modfile=tools/go.mod", name}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("run %s: %w: is the module proxy out of reach?", name, err)
	}
	return out, err
}
