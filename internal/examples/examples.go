// Package examples hands out the programs of the folder examples, each with one
// planted cause of imbalance, and builds them.
//
//	examples/*.c, embedded by main ─▶ Set ─▶ names, what each is about
//	                                   └ Unpack ─▶ a directory ─▶ Compiler.Build ─▶ a program,
//	                                                              with -DFIXED the balanced one
//
// The programs themselves are C, and a folder with C files cannot be a Go
// package: so they are in a folder of their own, and come here as a file system.
package examples

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// folder is where the programs are in a Set.
const folder = "examples"

// Set is a file system that holds the folder examples.
type Set struct{ FS fs.FS }

// Names are those of the programs, without .c, in alphabetical order.
func (s Set) Names() []string {
	files, _ := fs.Glob(s.FS, folder+"/*.c") // errors are those of the pattern only
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(path.Base(f), ".c")
	}
	return names
}

// Has says whether there is a program of this name.
func (s Set) Has(name string) bool {
	_, err := s.Source(name)
	return err == nil
}

// Source is the text of a program.
func (s Set) Source(name string) (string, error) {
	text, err := fs.ReadFile(s.FS, path.Join(folder, name+".c"))
	return string(text), err
}

// About is the line that a program's text begins with: what is wrong with it.
func (s Set) About(name string) (string, error) {
	text, err := s.Source(name)
	if err != nil {
		return "", err
	}
	about, _, _ := strings.Cut(strings.TrimPrefix(text, "/* "), "\n")
	return about, nil
}

// Unpack writes all programs, and what they include, to a directory.
func (s Set) Unpack(dir string) error {
	files, err := fs.Glob(s.FS, folder+"/*.[ch]")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := fs.ReadFile(s.FS, f)
		if err != nil {
			return fmt.Errorf("unpack the examples: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, path.Base(f)), text, 0o666); err != nil {
			return fmt.Errorf("unpack the examples: %w", err)
		}
	}
	return nil
}
