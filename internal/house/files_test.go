package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

const (
	module = "github.com/skewlens/skewlens"
	root   = "../.."
)

// goFile is a parsed file; its name begins at the root of the repository.
type goFile struct {
	name   string
	lines  int
	syntax *ast.File
	pos    *token.FileSet
}

func (f *goFile) folder() string { return filepath.Dir(f.name) }

func (f *goFile) test() bool { return strings.HasSuffix(f.name, "_test.go") }

// goFiles are all Go files of the repository.
func goFiles(t *testing.T) []*goFile {
	t.Helper()
	all := []*goFile{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); n == ".git" || n == "node_modules" || n == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f := &goFile{pos: token.NewFileSet()}
		if f.syntax, err = parser.ParseFile(f.pos, path, nil, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return err
		}
		f.lines = f.pos.Position(f.syntax.FileEnd).Line - 1
		f.name, err = filepath.Rel(root, path)
		all = append(all, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d Go files are found: is %s the root?", len(all), root)
	}
	return all
}
