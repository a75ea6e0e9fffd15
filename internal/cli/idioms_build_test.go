package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// variant is how a program is built and run.
type variant struct {
	compiler, level string
	threads         int
}

func (v variant) String() string { return fmt.Sprintf("%s%s-%d", v.compiler, v.level, v.threads) }

// variants are all ways to build and run.
func variants(compilers ...string) []variant {
	var all []variant
	for _, threads := range []int{8, 4, 16, 2} {
		for _, level := range []string{"-O2", "-O0", "-O3"} {
			for _, c := range compilers {
				all = append(all, variant{c, level, threads})
			}
		}
	}
	return all
}

// compilers that an idiom is built by. What is written in C with OpenMP is C++, too; in
// Fortran it is gfortran's, with the runtime of either compiler.
func (i *idiom) compilers() []string {
	switch ext := filepath.Ext(i.file); {
	case ext == ".go":
		return []string{"go"}
	case ext == ".rs":
		return []string{"cargo"}
	case strings.HasSuffix(i.expect["link"], "gomp.a"): // Debian has libomp as a shared library only
		return []string{"gcc", "g++"}
	case ext == ".c" && i.expect["openmp"] != "":
		return []string{"gcc", "clang", "g++", "clang++"}
	}
	return []string{"gcc", "clang"}
}

// fortran is the compiler of all programs in that language: flang knows OpenMP from 19
// on, and its 19 has tasks share what is firstprivate.
const fortran = "gfortran"

// of are the ways that this test runs an idiom: one in turn, or all.
func (i *idiom) of(n int) []variant {
	all := variants(i.compilers()...)
	if os.Getenv("SKEWLENS_FULL") == "" {
		all = all[n*5%len(all):][:1] // 5 has no divisor in common with their number
	}
	for k := range all {
		if least := i.expect["least"]; least != "" {
			all[k].threads = max(all[k].threads, number(least, 0))
		}
		if most := i.expect["most"]; most != "" {
			all[k].threads = min(all[k].threads, number(most, 0))
		}
	}
	slices.SortStableFunc(all, func(a, b variant) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

func (b *idiomBench) compile(out string, flags ...string) error {
	switch filepath.Ext(b.file) {
	case ".go":
		return b.compileGo(out)
	case ".rs":
		return b.compileRust(out)
	case ".F90":
		return b.compileFortran(out, flags...)
	}
	words := []string{b.compiler, b.level, "-g", "-pthread"}
	if strings.HasSuffix(b.compiler, "++") {
		words = append(words, "-x", "c++")
	}
	if filepath.Ext(b.file) == ".cc" {
		words[0] = map[string]string{"gcc": "g++", "clang": "clang++"}[b.compiler]
		words = append(words, "-std=c++20")
	}
	if b.expect["openmp"] != "" {
		words = append(words, "-fopenmp")
	}
	if b.expect["static"] != "" {
		words = append(words, "-static")
	}
	words = append(words, strings.Fields(b.expect["flags"])...)
	words = append(append(words, flags...), filepath.Join(idiomDir, b.file), "-o", filepath.Join(b.dir, out))
	lib, err := b.compileLibrary(out)
	if err != nil {
		return err
	}
	words = append(words, lib...)
	if lib := b.expect["link"]; lib != "" {
		words = append(words, "-l"+lib)
	}
	return runCompiler(words...)
}

// compileLibrary makes the library of an idiom that has one, and says how to link it.
func (b *idiomBench) compileLibrary(out string) ([]string, error) {
	lib := b.expect["lib"]
	if lib == "" {
		return nil, nil
	}
	compiler := b.compiler
	if compiler == "go" {
		compiler = "gcc"
	}
	so := filepath.Join(b.dir, "lib"+out+".so")
	return []string{so, "-Wl,-rpath," + b.dir}, runCompiler(compiler, b.level, "-g", "-shared", "-fPIC", filepath.Join(idiomDir, lib), "-o", so)
}

// compileFortran is gfortran with its own libgomp or, in clang's stead, with clang's
// libomp, which has all that gfortran's code calls.
func (b *idiomBench) compileFortran(out string, flags ...string) error {
	object, modules := filepath.Join(b.dir, out+".o"), filepath.Join(b.dir, out+".mod")
	if err := os.Mkdir(modules, 0o700); err != nil {
		return err
	}
	words := append([]string{fortran, b.level, "-g", "-fopenmp", "-J", modules}, flags...)
	if err := runCompiler(append(words, "-c", filepath.Join(idiomDir, b.file), "-o", object)...); err != nil {
		return err
	}
	link := []string{fortran}
	if b.compiler == "clang" {
		library, err := exec.Command(fortran, "-print-file-name=libgfortran.so").Output()
		if err != nil {
			return fmt.Errorf("where the library of %s is: %w", fortran, err)
		}
		link = []string{"clang", strings.TrimSpace(string(library)), "-lm"}
	}
	return runCompiler(append(link, object, "-fopenmp", "-o", filepath.Join(b.dir, out))...)
}

func runCompiler(words ...string) error {
	cmd := exec.Command(words[0], words[1:]...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, bytes.TrimSpace(text))
	}
	return nil
}
