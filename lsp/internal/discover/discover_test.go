package discover

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// tree is a folder with files, by their names; @/ in them is the folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "@/", dir+"/")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compile runs a command in a folder, and skips where there is no such compiler.
func compile(t *testing.T, dir string, words ...string) {
	t.Helper()
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skipf("%s is not here", words[0])
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
}

// shown is what is offered for a file: label, reason, build.
func shown(root, path string) string {
	if path != "" {
		path = filepath.Join(root, path)
	}
	var lines []string
	for _, c := range New(&workspace.Disk{}).Find(root, path) {
		line := c.Label + " | " + c.Why + " | " + c.Build
		if c.Asks {
			line += " | asks"
		}
		if c.Program != "" {
			line += " | " + relative(root, c.Program)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

const (
	mainC = "int helper(int);\nint main(void) { return helper(1); }\n"
	help  = "int helper(int x) { return x - 1; }\n"
)

// What is offered before anything is built.
func TestNotBuiltYet(t *testing.T) {
	cmake := "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(p main.c)\n"
	cases := []struct {
		name, open, want string
		files            map[string]string
	}{
		{"a file alone", "x.c", "x | compiled from this file alone | cc -O2 -g -pthread x.c -o x -lm | x", map[string]string{"x.c": "int main(void) { return 0; }"}},
		{"one that looks at arguments", "a b.cpp", "a b | compiled from this file alone | c++ -O2 -g -pthread 'a b.cpp' -o 'a b' | asks | a b", map[string]string{"a b.cpp": "int main(int argc, char **argv) { return argc; }"}},
		{"OpenMP", "d/x.c", "d/x | compiled from this file alone | cc -O2 -g -pthread -fopenmp d/x.c -o d/x -lm | d/x", map[string]string{"d/x.c": "#pragma omp parallel\nint main() {}"}},
		{"Fortran", "x.f90", "x | compiled from this file alone | gfortran -O2 -g -fopenmp x.f90 -o x | x", map[string]string{"x.f90": "program x\n!$omp parallel\nend program"}},
		{"modules of Fortran, in the order of their use", "a.f90", "solve | compiled from the sources of this folder | gfortran -O2 -g -fopenmp z.f90 b.F90 a.f90 solve.f90 sub.f -o solve | solve", map[string]string{
			"solve.f90": "program solve\n  use a, only: f\n  use, intrinsic :: iso_c_binding\nend program", "a.f90": "module a ! the first\n  use :: B\ncontains\n  module procedure g\n  end procedure\nend module a", "b.F90": "MODULE b\nuse z\n!$omp parallel\nEND MODULE",
			"z.f90": "module z\nend module", "sub.f": "      subroutine sub\n      end", "x.c": "int main() {}"}},
		{"one of several programs in Fortran", "parts.f90", "p | compiled from the sources of this folder | gfortran -O2 -g a.f90 p.f90 parts.f90 -o p | p", map[string]string{
			"p.f90": "program p\n  use a\nend program", "q.f90": "program q\nend program", "a.f90": "module a\n interface\n  module subroutine s\n end interface\nend module", "parts.f90": "submodule (a) parts\nend submodule", "other.f90": "module other\nend module"}},
		{"modules that use each other", "p.f90", "p | compiled from the sources of this folder | gfortran -O2 -g b.f90 a.f90 p.f90 -o p | p", map[string]string{"p.f90": "program p\nuse a\nend program", "a.f90": "module a\nuse b\nend module", "b.f90": "module b\nuse a\nend module"}},
		{"a folder of headers", "tests/x.cpp", "tests/x | compiled from this file alone | c++ -O2 -g -pthread -I include tests/x.cpp -o tests/x | tests/x", map[string]string{"tests/x.cpp": "int main() {}", "include/x.hpp": ""}},
		{"a main in a comment", "x.c", "", map[string]string{"x.c": "// int main(void) {\n/*\n * main()\n */\nconst char *s = \"int main() {\";\n"}},
		{"a main of a test framework", "t.cpp", "t | compiled from this file alone | c++ -O2 -g -pthread t.cpp -o t | t", map[string]string{"t.cpp": "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include \"doctest.h\"\n"}},
		{"a main on a line of its own", "x.c", "x | compiled from this file alone | cc -O2 -g -pthread x.c -o x -lm | x", map[string]string{"x.c": "int\nmain (void)\n{}"}},
		{"no main", "x.c", "", map[string]string{"x.c": "int f;"}},
		{"a folder of the program's name", "x.c", "x.out | compiled from this file alone | cc -O2 -g -pthread x.c -o x.out -lm | x.out", map[string]string{"x.c": "int main() {}", "x/y": ""}},
		{"make", "src/x.c", "make | Makefile | make", map[string]string{"src/x.c": "int main() {}", "Makefile": "all:\n"}},
		{"make below", "lib/a/x.c", "make in lib | Makefile | make -C lib", map[string]string{"lib/a/x.c": "int main() {}", "lib/Makefile": "all:\n", "x": ""}},
		{"make without lines", "x.c", "make | Makefile | make CC='gcc-12 -std=c11 -g' CXX='c++ -g'", map[string]string{"x.c": "int main() {}", "Makefile": "CC ?= gcc-12 -std=c11\nCFLAGS = -O2 -gone\nx: x.o\n"}},
		{"make that asks for its compiler", "x.cc", "make | Makefile | make", map[string]string{"x.cc": "int main() {}", "Makefile": "CXX := $(shell which c++)\nx: x.cc\n\t${CXX} -o x x.cc\n"}},
		{"make with lines", "x.c", "make | Makefile | make", map[string]string{"x.c": "int main() {}", "Makefile": "x: x.c\n\tcc -g -o x x.c\n"}},
		{"make by a compiler's own name", "x.c", "make | Makefile | make", map[string]string{"x.c": "int main() {}", "Makefile": "x: x.c\n\t@gcc-12 -O2 -o x x.c\n"}},
		{"make with lines under a condition", "x.c", "make | Makefile | make CC='cc -g'", map[string]string{"x.c": "int main() {}", "Makefile": "CC = cc\nifdef DEBUG\nCFLAGS += -g\nelse ifdef X\nCFLAGS = -g3\nendif\np: y\n"}},
		{"rules that another file has", "x.c", "make | Makefile | make CC='mpicc -g'", map[string]string{"x.c": "int main() {}", "Makefile": "CFLAGS = -O3\nCC=mpicc\ninclude targets\n"}},
		{"a program of many", "src/bfs.cc", "make | Makefile | make bfs CXX='c++ -g'", map[string]string{"src/bfs.cc": "int main() {}", "Makefile": "KERNELS = bc bfs\nall: $(KERNELS)\n% : src/%.cc src/*.h\n\t$(CXX) -O3 $< -o $@\n"}},
		{"a program of many with a rule of its own", "bfs.c", "make | Makefile | make bfs", map[string]string{"bfs.c": "int main() {}", "Makefile": "CFLAGS := -g\nall: bfs cc\nbfs cc: lib.o\n"}},
		{"a deed of that name", "test.c", "make | Makefile | make", map[string]string{"test.c": "int main() {}", "Makefile": "CFLAGS = -g\nall: test\ntest: all\n\t./test\n"}},
		{"a part of many programs", "lib.c", "make | Makefile | make", map[string]string{"lib.c": "int lib;", "Makefile": "CFLAGS = -g\nlib: lib.c\n"}},
		{"make by a compiler of another name", "x.C", "make | Makefile | make PCC='g++ -g' LD='clang++-17 -pthread -g'", map[string]string{"x.C": "int main() {}", "Makefile": "ifdef M\nPCC = icpc\nelse\n PCC = g++\nendif\nLD = clang++-17 -pthread\nTOOLSET := gcc\nFLAGS = ${flags.${TOOLSET}}\np:\n\t$(PCC) -c $<\n\t@${LD} -o p\n"}},
		{"configure", "x.c", "configure and make | configure | ./configure && make", map[string]string{"x.c": "", "configure": "#!/bin/sh"}},
		{"configure of both kinds", "src/x.c", "configure and make | configure | ./configure && make", map[string]string{"src/x.c": "", "configure": "#!/bin/sh", "configure.ac": ""}},
		{"autoconf", "src/x.c", "autoconf | configure.ac | autoreconf -i && ./configure && make", map[string]string{"src/x.c": "", "configure.ac": ""}},
		{"dub", "source/app.d", "dub | dub.sdl | dub build -b release-debug", map[string]string{"source/app.d": "", "dub.sdl": "name \"app\""}},
		{"nimble", "n/src/app.nim", "nimble in n | *.nimble | cd n && nimble build -d:release --debugger:native", map[string]string{"n/src/app.nim": "", "n/app.nimble": ""}},
		{"dune", "bin/main.ml", "dune | dune-project | dune build --profile release", map[string]string{"bin/main.ml": "", "dune-project": "(lang dune 2.0)"}},
		{"a file of D", "a.d", "a | compiled from this file alone | ldc2 -O2 -g a.d -of=a | asks | a", map[string]string{"a.d": "void main(string[] args) {}"}},
		{"a file of Nim", "a.nim", "a | compiled from this file alone | nim c -d:release --debugger:native --threads:on -o:a a.nim | asks | a", map[string]string{"a.nim": "proc main() = echo paramStr(1)"}},
		{"fpm", "f/src/a.f90", "fpm in f | fpm.toml | cd f && fpm build --profile release --flag -g", map[string]string{"f/src/a.f90": "", "f/fpm.toml": ""}},
		{"a name that is like a flag", "-x.c", "-x | compiled from this file alone | cc -O2 -g -pthread ./-x.c -o -x -lm | -x", map[string]string{"-x.c": "int main() {}"}},
		{"qmake", "x.cpp", "qmake | *.pro | qmake QMAKE_CFLAGS+=-g QMAKE_CXXFLAGS+=-g && make", map[string]string{"x.cpp": "int main() {}", "x.pro": "SOURCES += x.cpp"}},
		{"a file of another kind that is called like qmake's", "x.cpp", "x | compiled from this file alone | c++ -O2 -g -pthread x.cpp -o x | x", map[string]string{"x.cpp": "int main() {}", "x.pro": "-keep class *"}},
		{"waf", "x.cpp", "waf | waf | ./waf configure build", map[string]string{"x.cpp": "int main() {}", "waf": "#!/usr/bin/env python3\n# waf", "wscript": ""}},
		{"ninja", "x.cpp", "ninja | build.ninja | ninja", map[string]string{"x.cpp": "int main() {}", "build.ninja": "", "a.pro": "", "b.pro": ""}},
		{"cmake", "src/main.c", "cmake | CMakeLists.txt | cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build", map[string]string{"src/main.c": mainC, "CMakeLists.txt": cmake, "src/CMakeLists.txt": "add_executable(q main.c)"}},
		{"cmake of two build types", "main.c", "cmake | CMakeLists.txt | cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-g -DCMAKE_CXX_FLAGS=-g -DCMAKE_Fortran_FLAGS=-g && cmake --build build",
			map[string]string{"main.c": mainC, "CMakeLists.txt": cmake + "if (NOT CMAKE_BUILD_TYPE MATCHES \"Debug|Release\")\n  message(FATAL_ERROR \"Debug or Release\")\nendif()\n"}},
		{"cmake of all build types", "main.c", "cmake | CMakeLists.txt | cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build",
			map[string]string{"main.c": mainC, "CMakeLists.txt": cmake + "message(FATAL_ERROR \"CMAKE_BUILD_TYPE is Release or RelWithDebInfo\")\n"}},
		{"cmake presets", "main.c", "cmake preset fast | CMakePresets.json | cmake --preset fast && cmake --build --preset fast-build", map[string]string{"main.c": mainC, "CMakeLists.txt": cmake,
			"CMakePresets.json": `{"configurePresets": [{"name": "base", "hidden": true}, {"name": "fast"}, {"name": "nobuild"}], "buildPresets": [{"name": "fast-build", "configurePreset": "fast"}]}`}},
		{"broken presets", "main.c", "cmake | CMakeLists.txt | cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build", map[string]string{"main.c": mainC, "CMakeLists.txt": cmake, "CMakePresets.json": "{"}},
		{"cmake and make", "main.c", "cmake | CMakeLists.txt | cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build\nmake | Makefile | make", map[string]string{"main.c": mainC, "CMakeLists.txt": cmake, "Makefile": ""}},
		{"meson", "main.c", "meson | meson.build | { test -f builddir/build.ninja || meson setup --buildtype=debugoptimized builddir; } && meson compile -C builddir", map[string]string{"main.c": mainC, "meson.build": "project('x', 'c')"}},
		{"cargo", "src/main.rs", "crunch | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --bin crunch | asks | target/skewlens/release/crunch",
			map[string]string{"src/main.rs": "fn main() { std::env::args(); }", "Cargo.toml": "[package]\nname = \"crunch\""}},
		{"cargo, two programs", "src/lib.rs", "one | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --bin one | target/skewlens/release/one\n" +
			"two | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --bin two | target/skewlens/release/two",
			map[string]string{"src/lib.rs": "", "src/bin/one.rs": "", "src/bin/two/main.rs": "", "Cargo.toml": "[package]\nname = \"crunch\""}},
		{"cargo, a workspace", "core/src/lib.rs", "app/app | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --bin app --manifest-path app/Cargo.toml | target/skewlens/release/app",
			map[string]string{"core/src/lib.rs": "", "core/Cargo.toml": "[package]\nname = \"core\"", "app/src/main.rs": "", "app/Cargo.toml": "[package]\nname = \"app\"", "Cargo.toml": "[workspace]\nmembers = [\"*\"]"}},
		{"cargo, a member with examples of a workspace that is a package", "core/src/lib.rs", "core/e | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --example e --manifest-path core/Cargo.toml | target/skewlens/release/examples/e\n" +
			"top | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --bin top | target/skewlens/release/top\napp/app | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --bin app --manifest-path app/Cargo.toml | target/skewlens/release/app",
			map[string]string{"core/src/lib.rs": "", "core/examples/e.rs": "", "core/Cargo.toml": "[package]\nname = \"core\"", "app/src/main.rs": "", "app/examples/a.rs": "", "app/Cargo.toml": "[package]\nname = \"app\"", "src/main.rs": "", "Cargo.toml": "[package]\nname = \"top\"\n[workspace]\nmembers = [\".\", \"app\", \"core\"]"}},
		{"cargo, tests of a member without programs", "core/src/lib.rs", "app/app | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --bin app --manifest-path app/Cargo.toml | target/skewlens/release/app\n" +
			"core/tests | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --tests --manifest-path core/Cargo.toml",
			map[string]string{"core/src/lib.rs": "#[test]\nfn works() {}", "core/Cargo.toml": "[package]\nname = \"core\"", "app/src/main.rs": "", "app/Cargo.toml": "[package]\nname = \"app\"", "Cargo.toml": "[workspace]\nmembers = [\"*\"]"}},
		{"cargo, an example", "examples/e.rs", "e | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --example e | target/skewlens/release/examples/e",
			map[string]string{"src/main.rs": "", "examples/e.rs": "", "Cargo.toml": "[package]\nname = \"p\""}},
		{"cargo, a library", "src/lib.rs", "tests | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --tests", map[string]string{"src/lib.rs": "", "src/part.rs": "", "tests/t.rs": "", "benches/b.rs": "", "Cargo.toml": "[package]\nname = \"p\""}},
		{"cargo, a library with examples", "src/part.rs", "e | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --example e | target/skewlens/release/examples/e\ntests | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --tests", map[string]string{"src/lib.rs": "", "src/part.rs": "", "examples/e/main.rs": "", "Cargo.toml": "[package]\nname = \"p\""}},
		{"cargo, a test", "tests/t.rs", "t | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --test t", map[string]string{"src/main.rs": "", "tests/t.rs": "std::env::args()", "tests/common/mod.rs": "", "Cargo.toml": "[package]\nname = \"p\""}},
		{"cargo, a benchmark of a member", "core/benches/b.rs", "core/b | Cargo.toml | CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir target/skewlens --bench b --manifest-path core/Cargo.toml", map[string]string{"core/src/lib.rs": "", "core/benches/b.rs": "", "core/Cargo.toml": "[package]\nname = \"core\"", "app/src/main.rs": "", "app/Cargo.toml": "[package]\nname = \"app\"", "Cargo.toml": "[workspace]\nmembers = [\"*\"]"}},
		{"one of a compilation database", "x.c", "x | compiled from this file alone, as compile_commands.json says | clang -O3 -I/inc/a -DN=2 -g -pthread x.c -o x -lm | x", map[string]string{"x.c": "int main() {}",
			"build/compile_commands.json": `[{"directory": "/inc", "file": "other.c", "command": "cc other.c"}, {"directory": "/inc", "file": "@/x.c", "command": "clang -O3 -Ia -DN=2 -MD -MF x.d -c @/x.c -o x.o"}]`}},
		{"one of a database with words", "x.c", "x | compiled from this file alone, as compile_commands.json says | clang '-DS=\"a b\"' -isystem /q/z -g -pthread x.c -o x -lm | x", map[string]string{"x.c": "int main() {}",
			"compile_commands.json": `[{"directory": "/q", "file": "@/x.c", "arguments": ["clang", "-DS=\"a b\"", "-isystem", "z", "-c", "-o", "x.o", "@/x.c"]}]`}},
		{"one of a database that only a shell reads", "x.c", "x | compiled from this file alone | cc -O2 -g -pthread x.c -o x -lm | x", map[string]string{"x.c": "int main() {}",
			"compile_commands.json": `[{"directory": "/q", "file": "@/x.c", "command": "clang '-DS=a b' -c @/x.c"}]`}},
		{"a Go program of a module", "cmd/solve/main.go", "cmd/solve/solve | go.mod | cd cmd/solve && go build -o solve . | asks | cmd/solve/solve", map[string]string{"go.mod": "module example.org/solver/v2\n",
			"main.go": "package main\nfunc main() {}", "cmd/solve/main.go": "package main\nimport \"os\"\nfunc main() { println(os.Args[1]) }"}},
		{"a Go library of a module", "lib/lib.go", "solver | go.mod | go build -o solver . | solver\ncmd/solve/solve | go.mod | cd cmd/solve && go build -o solve . | cmd/solve/solve", map[string]string{"go.mod": "module example.org/solver/v2\n",
			"main.go": "package main\nfunc main() {}", "main_test.go": "package main_test", "cmd/solve/main.go": "// A solver.\npackage main\nfunc main() {}", "lib/lib.go": "package lib"}},
		{"a Go library that another module of the workspace uses", "lib/lib.go", "app/cmd/solve/solve | go.work | cd app/cmd/solve && go build -o solve . | app/cmd/solve/solve", map[string]string{"go.work": "go 1.21\nuse (\n\t./lib // this one\n\t./app\n)\n",
			"lib/go.mod": "module example.org/lib\n", "lib/lib.go": "package lib", "app/go.mod": "module example.org/app\n", "app/cmd/solve/main.go": "package main\nfunc main() {}"}},
		{"Go tests of a module without programs", "lib/lib.go", "lib/lib.test | the tests of this folder | cd lib && go test -c -o lib.test . | lib/lib.test", map[string]string{"go.mod": "module example.org/solver\n", "lib/lib.go": "package lib", "lib/lib_test.go": "package lib"}},
		{"a Go test", "main_test.go", "@.test | the tests of this folder | go test -c -o @.test . | @.test", map[string]string{"go.mod": "module example.org/solver\n", "main.go": "package main\nfunc main() {}", "main_test.go": "package main"}},
		{"Go benchmarks", "p/x_test.go", "p/p.test | the tests of this folder | cd p && go test -c -o p.test . | p/p.test\np/p.test -test.bench=. | the benchmarks of this folder | cd p && go test -c -o p.test . | p/p.test",
			map[string]string{"go.mod": "module example.org/p\n", "p/x_test.go": "package p", "p/b_test.go": "package p\nfunc BenchmarkX(b *testing.B) {}"}},
		{"Go without a module", "x.go", "x | compiled from this file alone | go build -o x x.go | asks | x", map[string]string{"x.go": "package main\nimport \"flag\"\nfunc main() { flag.Parse() }",
			"x_test.go": "package main", "other.go": "package other\nfunc main() {}"}},
		{"several of Go", "y.go", "x | compiled from the sources of this folder | go build -o x x.go y.go | x", map[string]string{"x.go": "package main\nfunc main() { y() }", "y.go": "package main\nfunc y() {}"}},
		{"programs of Go", "x.go", "x | compiled from this file alone | go build -o x x.go | x", map[string]string{"x.go": "package main\nfunc main() {}", "y.go": "package main\nfunc main() {}"}},
		{"several files", "d/y.c", "d/x | compiled from the sources of this folder | cc -O2 -g -pthread d/x.c d/y.c -o d/x -lm | d/x", map[string]string{"d/x.c": "int main() {}", "d/y.c": "int y;", "d/z.cc": "int z;", "d/x.h": ""}},
		{"several programs, of which two share a file", "y.c", "w | compiled from the sources of this folder | cc -O2 -g -pthread w.c z.c y.c -o w -lm | w\nx | compiled from the sources of this folder | cc -O2 -g -pthread x.c y.c z.c -o x -lm | x",
			map[string]string{"x.c": "#include \"y.h\"\nint main() {}", "y.h": "", "y.c": "# include \"z.h\"", "z.h": "#include \"y.h\"", "z.c": "", "w.c": "#include \"z.h\"\nint main() {}", "v.c": "int main() {}"}},
		{"one of several programs", "v.c", "v | compiled from this file alone | cc -O2 -g -pthread v.c -o v -lm | v", map[string]string{"x.c": "int main() {}", "v.c": "int main() {}", "u.c": ""}},
		{"a header", "work.hpp", "x | compiled from this file alone | c++ -O2 -g -pthread x.cpp -o x | x", map[string]string{"x.cpp": "#include \"work.hpp\"\nint main() {}", "y.cpp": "int main() {}", "work.hpp": ""}},
		{"a header of a library", "include/lib/work.hpp", "tests/x | compiled from this file alone | c++ -O2 -g -pthread -I include tests/x.cpp -o tests/x | tests/x", map[string]string{"tests/x.cpp": "# include <lib/work.hpp>\nint main() {}", "tests/part.cpp": "#include <lib/work.hpp>", "src/y.cpp": "#include <lib/other.hpp>\nint main() {}", "include/lib/work.hpp": ""}},
		{"a header that nobody includes", "work.hpp", "", map[string]string{"x.cpp": "int main() {}", "work.hpp": ""}},
		{"C++20", "x.cpp", "x | compiled from this file alone | c++ -O2 -g -pthread -std=c++20 x.cpp -o x | x", map[string]string{"x.cpp": "#include <barrier>\nint main() {}"}},
		{"C++20 in a header", "x.cpp", "x | compiled from the sources of this folder | c++ -O2 -g -pthread -std=c++20 x.cpp y.cc -o x | x", map[string]string{"x.cpp": "int main() {}", "y.cc": "#include \"y.h\"", "y.h": "inline std::jthread t;"}},
		{"C++23", "x.cpp", "x | compiled from this file alone | c++ -O2 -g -pthread -fopenmp -std=c++23 x.cpp -o x | x", map[string]string{"x.cpp": "#include <print>\n#include <span>\n#include <omp.h>\nint main() {}"}},
		{"C is not C++", "x.c", "x | compiled from this file alone | cc -O2 -g -pthread x.c -o x -lm | x", map[string]string{"x.c": "int requires;\nint main() {}"}},
		{"MPI", "x.c", "mpirun -n @N x | compiled from this file alone | mpicc -O2 -g -pthread x.c -o x -lm | asks | x\nx | compiled from this file alone | mpicc -O2 -g -pthread x.c -o x -lm | asks | x", map[string]string{"x.c": "# include <mpi.h>\nint main(int n, char **v) {}"}},
		{"MPI in Fortran", "a.f90", "mpirun -n @N x | compiled from the sources of this folder | mpifort -O2 -g a.f90 x.f90 -o x | x\nx | compiled from the sources of this folder | mpifort -O2 -g a.f90 x.f90 -o x | x", map[string]string{"x.f90": "program x\nuse a\nend", "a.f90": "module a\n  use, non_intrinsic :: MPI_f08\nend"}},
		{"oneTBB", "x.cc", "x | compiled from this file alone | c++ -O2 -g -pthread x.cc -o x -ltbb | x", map[string]string{"x.cc": "#include <oneapi/tbb.h>\nint main() {}"}},
		{"parallel algorithms", "x.cc", "x | compiled from this file alone | c++ -O2 -g -pthread x.cc -o x -ltbb | x", map[string]string{"x.cc": "#include <execution>\nint main() {}"}},
		{"a folder called configure", "c/x.c", "c/x | compiled from this file alone | cc -O2 -g -pthread c/x.c -o c/x -lm | c/x", map[string]string{"c/x.c": "int main() {}", "configure/x": "", "c/configure/x": ""}},
		{"a Rust file alone", "x.rs", "x | compiled from this file alone | rustc -O -g x.rs -o x | x", map[string]string{"x.rs": "fn main() {}"}},
		{"nothing", "", "", map[string]string{"README": ""}},
	}
	ranks := ranked(Candidate{}, true)[0].Launcher[2]
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := tree(t, c.files)
			if got := shown(dir, c.open); got != strings.NewReplacer("@N", ranks, "@", filepath.Base(dir)).Replace(c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Programs that are there are found by what they are made of.
func TestMadeOf(t *testing.T) {
	dir := tree(t, map[string]string{"src/main.c": mainC, "src/help.c": help, "other.c": "int main(void) { return 0; }", "Makefile": "out/app: src/main.c\n"})
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	compile(t, dir, "gcc", "-g", "src/main.c", "src/help.c", "-o", "out/app")
	compile(t, dir, "gcc", "-g", "other.c", "-o", "other")
	if got, want := shown(dir, "src/help.c"), "out/app | built from this file | make CC='cc -g' | out/app"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := shown(dir, "other.c"), "other | built from this file |  | other"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "other"), past, past); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(dir, "other.c"), "other | compiled from this file alone | cc -O2 -g -pthread other.c -o other -lm | other\nother | built from this file |  | other"; got != want {
		t.Errorf("edited since: got %s, want %s", got, want)
	}
	if got := shown(dir, ""); !strings.Contains(got, "out/app | a program of this folder") || !strings.Contains(got, "other |") {
		t.Errorf("of the folder: %s", got)
	}
	f := New(&workspace.Disk{})
	for program, want := range map[string]Held{"out/app": Yes, "other": No, "nowhere": Unknown, "Makefile": Unknown} {
		if got := f.Holds(filepath.Join(dir, program), filepath.Join(dir, "src/help.c")); got != want {
			t.Errorf("%s: %v, want %v", program, got, want)
		}
	}
	if got := f.Holds(filepath.Join(dir, "out/app"), filepath.Join(dir, "README")); got != Unknown {
		t.Errorf("of a text nothing is known, got %v", got)
	}
}

// A folder may be opened by a link to it.
func TestLinkedFolder(t *testing.T) {
	dir := tree(t, map[string]string{"p/main.c": "int main(void) { return 0; }"})
	compile(t, filepath.Join(dir, "p"), "gcc", "-g", "main.c", "-o", "app")
	if err := os.Symlink("p", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(filepath.Join(dir, "link"), "main.c"), "app | built from this file |  | app"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Without debug information its symbols have the names of its files; a library
// has a program that loads it; what was built elsewhere has a path that ends so.
func TestMadeOfByOtherSigns(t *testing.T) {
	dir := tree(t, map[string]string{"src/main.c": mainC, "src/help.c": help})
	compile(t, dir, "gcc", "src/main.c", "src/help.c", "-o", "plain")
	if got, want := shown(dir, "src/help.c"), "plain | built from this file without debug information: nothing will stand on a line |  | plain"; got != want {
		t.Errorf("symbols: got %s, want %s", got, want)
	}
	compile(t, dir, "gcc", "-g", "-shared", "-fPIC", "src/help.c", "-o", "libhelp.so")
	compile(t, dir, "gcc", "-g", "src/main.c", "-o", "loads", "-L.", "-lhelp", "-Wl,-rpath,$ORIGIN")
	if got, want := shown(dir, "src/help.c"), "loads | loads a library built from this file |  | loads"; got != want {
		t.Errorf("library: got %s, want %s", got, want)
	}
	if got := New(&workspace.Disk{}).Holds(filepath.Join(dir, "loads"), filepath.Join(dir, "src/help.c")); got != Yes {
		t.Errorf("library: %v", got)
	}
	moved := tree(t, map[string]string{"src/main.c": mainC, "src/help.c": help})
	compile(t, dir, "gcc", "-g", "src/main.c", "src/help.c", "-o", filepath.Join(moved, "app"))
	if got, want := shown(moved, "src/help.c"), "app | built from this file |  | app"; got != want {
		t.Errorf("moved: got %s, want %s", got, want)
	}
}

// The folder that CMake built in is used again; the programs that it tries
// compilers with are nobody's.
func TestCMakeBuildFolder(t *testing.T) {
	dir := tree(t, map[string]string{"main.c": mainC, "CMakeLists.txt": "project(p C)", "build/CMakeFiles/3.25/try.c": mainC + help})
	compile(t, filepath.Join(dir, "build/CMakeFiles/3.25"), "gcc", "-g", "try.c", "-o", "a.out")
	cache := "CMAKE_BUILD_TYPE:STRING=\nCMAKE_HOME_DIRECTORY:INTERNAL=" + dir + "\n"
	if err := os.WriteFile(filepath.Join(dir, "build/CMakeCache.txt"), []byte(cache), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(dir, "main.c"), "cmake | CMakeLists.txt | cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build"; got != want {
		t.Errorf("where CMake gave up: got %s, want %s", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "build/build.ninja"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(dir, "main.c"), "cmake build | CMakeCache.txt | cmake --build build"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Of a folder that CMake builds several configurations in, that with optimisation and debug
// information is built, and of a program that is there its own.
func TestCMakeConfigurations(t *testing.T) {
	dir := tree(t, map[string]string{"main.c": "int main(void) { return 0; }\n", "CMakeLists.txt": "project(p C)", "build/build.ninja": "build app: phony Debug/app\n"})
	put := func(types string) {
		cache := "CMAKE_CONFIGURATION_TYPES:STRING=" + types + "\nCMAKE_HOME_DIRECTORY:INTERNAL=" + dir + "\n"
		if err := os.WriteFile(filepath.Join(dir, "build/CMakeCache.txt"), []byte(cache), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for types, want := range map[string]string{"Debug;Release;RelWithDebInfo": " --config RelWithDebInfo", "Debug;Fast": ""} {
		put(types)
		if got, want := shown(dir, "main.c"), "cmake build | CMakeCache.txt | cmake --build build"+want; got != want {
			t.Errorf("%s: got %s, want %s", types, got, want)
		}
	}
	put("Debug;Fast")
	for _, config := range []string{"Debug", "Fast"} {
		if err := os.MkdirAll(filepath.Join(dir, "build/sub", config), 0o755); err != nil {
			t.Fatal(err)
		}
		compile(t, dir, "gcc", "-g", "main.c", "-o", "build/sub/"+config+"/app")
	}
	got := shown(dir, "main.c")
	for _, config := range []string{"Debug", "Fast"} {
		if !strings.Contains(got, "cmake --build build --config "+config+" --target app") {
			t.Errorf("%s is not built as such: %s", config, got)
		}
	}
}

// A folder that CMake built in somewhere else, and that came here with a copy of the project,
// is left alone; where the project is opened by a link, the folder is its own.
func TestCMakeMoved(t *testing.T) {
	dir := tree(t, map[string]string{"p/main.c": mainC, "p/CMakeLists.txt": "project(p C)", "p/build/build.ninja": ""})
	for home, want := range map[string]string{
		"/somewhere/else":       "cmake | CMakeLists.txt | cmake -S . -B build-skewlens -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build-skewlens",
		filepath.Join(dir, "p"): "cmake build | CMakeCache.txt | cmake --build build",
	} {
		if err := os.WriteFile(filepath.Join(dir, "p/build/CMakeCache.txt"), []byte("CMAKE_HOME_DIRECTORY:INTERNAL="+home+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(filepath.Join(dir, "p"), link); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{filepath.Join(dir, "p"), link} {
			if got := shown(at, "main.c"); got != want {
				t.Errorf("built in %s, opened as %s: got %s, want %s", home, at, got, want)
			}
		}
	}
}

// What is no program bears anything.
func TestNoProgram(t *testing.T) {
	dir := tree(t, map[string]string{"x.c": "int main() {}", "script": "#!/bin/sh\n" + strings.Repeat("#", 100), "cut": "\x7fELF\x02\x01\x01" + strings.Repeat("\xff", 200), "short": "\x7fELF"})
	for _, name := range []string{"script", "cut", "short"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/", filepath.Join(dir, "all")); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(dir, "x.c"), "x | compiled from this file alone | cc -O2 -g -pthread x.c -o x -lm | x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A file that was opened without a folder belongs to its project.
func TestHome(t *testing.T) {
	dir := tree(t, map[string]string{"p/src/x.c": "", "p/Makefile": "", "q/x.c": "", "q/.git/HEAD": "", "q/r/y.c": "", "c/CMakeLists.txt": "project(c)", "c/src/CMakeLists.txt": "", "c/src/x.c": "",
		"d/meson.build": "project('d')", "d/src/lib/meson.build": "", "d/src/lib/x.c": "", "d/own/meson.build": "project('own')", "d/own/x.c": ""})
	f := New(&workspace.Disk{})
	for path, want := range map[string]string{"p/src/x.c": "p", "q/x.c": "q", "q/r/y.c": "q", "c/src/x.c": "c", "d/src/lib/x.c": "d", "d/own/x.c": "d"} {
		if got := f.Home(filepath.Join(dir, path)); got != filepath.Join(dir, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	for path, want := range map[string]string{"p/src/x.c": filepath.Join(dir, "p"), "q/r/y.c": "", "c/src/x.c": filepath.Join(dir, "c"), "d/src/lib/x.c": filepath.Join(dir, "d"), "d/own/x.c": ""} { // a part of a project is built by that
		if got := f.Above(filepath.Dir(filepath.Join(dir, path)), filepath.Join(dir, path)); got != want {
			t.Errorf("above %s: %q", path, got)
		}
	}
}

// The same of Rust: a test in a module of a library, and in a file of its own.
func TestRustTestAt(t *testing.T) {
	dir := tree(t, map[string]string{
		"Cargo.toml":   "[package]\nname = \"p\"\n",
		"src/lib.rs":   "fn all() {\n    h.join();\n}\n#[cfg(test)]\nmod tests {\n    #[test]\n    #[ignore]\n    fn works() {\n        fn inner() {}\n        h.join();\n    }\n\n    fn helper() {\n        h.join();\n    }\n}\n",
		"tests/all.rs": "#[tokio::test]\nasync fn whole() {\n    h.join();\n}\n",
	})
	f := New(&workspace.Disk{})
	for _, c := range []struct {
		file string
		line int
		want string
	}{
		{"src/lib.rs", 1, ""}, {"src/lib.rs", 4, ""}, {"src/lib.rs", 9, "tests works works"}, {"src/lib.rs", 10, "tests works works"},
		{"src/lib.rs", 11, ""}, {"src/lib.rs", 13, ""}, {"src/lib.rs", 99, ""}, {"tests/all.rs", 2, "all whole whole"},
	} {
		found, ok := f.TestAt(dir, filepath.Join(dir, c.file), c.line)
		if got := strings.TrimSpace(found.Name + " " + strings.Join(found.Args, " ")); got != c.want || ok != (c.want != "") {
			t.Errorf("%s, line %d: %q, want %q", c.file, c.line, got, c.want)
		}
	}
}

// A line of a file of tests is in a test, or in none; and what was built once does not hide
// that it has benchmarks.
func TestTestAt(t *testing.T) {
	dir := tree(t, map[string]string{"go.mod": "module example.org/p\n", "x/x_test.go": "package x\n\nfunc TestA(t *testing.T) {\n\twg.Wait()\n}\n\nfunc helper() {\n\twg.Wait()\n}\n\nfunc (s *S) TestM() {\n}\nfunc Testify() {\n}\nfunc BenchmarkB(b *testing.B) {\n\tb.RunParallel(nil)\n}\n", "x/x.go": "package x\nfunc TestNot() {\n}\n"})
	f := New(&workspace.Disk{})
	for line, want := range map[int]string{0: "", 1: "", 2: "x.test TestA -test.run=^TestA$", 3: "x.test TestA -test.run=^TestA$", 7: "", 11: "", 13: "", 15: "x.test BenchmarkB -test.run=^$ -test.bench=^BenchmarkB$"} {
		c, ok := f.TestAt(dir, filepath.Join(dir, "x/x_test.go"), line)
		if got := strings.TrimSpace(c.Name + " " + strings.Join(c.Args, " ")); got != want || ok != (want != "") {
			t.Errorf("line %d: %q, want %q", line, got, want)
		}
	}
	if _, ok := f.TestAt(dir, filepath.Join(dir, "x/x.go"), 2); ok {
		t.Error("a test outside of a file of tests")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not here")
	}
	before := shown(dir, "x/x_test.go")
	if err := os.WriteFile(filepath.Join(dir, "x/x_test.go"), []byte("package x\n\nimport \"testing\"\n\nfunc BenchmarkB(b *testing.B) {\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	compile(t, filepath.Join(dir, "x"), "go", "test", "-c", "-o", "x.test", ".")
	if after := shown(dir, "x/x_test.go"); after != before || !strings.Contains(after, "the benchmarks of this folder") {
		t.Errorf("%s, before it was built %s", after, before)
	}
}

// The debug information that was taken out of a program, as packages have it, is none.
func TestSeparateDebugInformation(t *testing.T) {
	dir := tree(t, map[string]string{"x.c": "int main(void) { return 0; }"})
	compile(t, dir, "gcc", "-g", "x.c", "-o", "x")
	compile(t, dir, "objcopy", "--only-keep-debug", "x", "x.debug")
	compile(t, dir, "objcopy", "--strip-debug", "--add-gnu-debuglink=x.debug", "x")
	if got, want := shown(dir, "x.c"), "x | built from this file |  | x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Of several projects in one folder, each with its "src/main.c", the file's own is offered:
// another's program is not made of it, whether it has debug information or not.
func TestMadeOfAnotherProject(t *testing.T) {
	alone := "two/src/main | compiled from this file alone | cc -O2 -g -pthread two/src/main.c -o two/src/main -lm | two/src/main"
	for flag, want := range map[string]string{"-g": alone, "-g0": alone + "\none/app | knows a file of this name without debug information: nothing will stand on a line | make -C one | one/app"} {
		dir := tree(t, map[string]string{"one/src/main.c": "int main(void) { return 0; }", "two/src/main.c": "int main(void) { return 1; }", "one/Makefile": "app: src/main.c\n\tgcc src/main.c -o app\n"})
		compile(t, dir, "gcc", flag, filepath.Join(dir, "one/src/main.c"), "-o", "one/app")
		if got := shown(dir, "two/src/main.c"); got != want {
			t.Errorf("%s: got %s, want %s", flag, got, want)
		}
		if got := New(&workspace.Disk{}).Holds(filepath.Join(dir, "one/app"), filepath.Join(dir, "two/src/main.c")); got == Yes {
			t.Errorf("%s: the program of one is taken for that of two", flag)
		}
		if got := shown(dir, "one/src/main.c"); !strings.HasPrefix(got, "one/app | built from this file") {
			t.Errorf("%s: of its own file: %s", flag, got)
		}
	}
}

// A preset that only configures builds in a folder of its own.
func TestPresetsWithoutBuilds(t *testing.T) {
	dir := tree(t, map[string]string{"p/main.c": mainC, "p/CMakeLists.txt": "project(p C)", "p/CMakePresets.json": `{"configurePresets": [{"name": "base", "hidden": true}, {"name": "fast"}, {"name": "my own"}, {"name": "built"}],
		"buildPresets": [{"name": "b", "configurePreset": "built"}]}`})
	var got []string
	for _, c := range New(&workspace.Disk{}).Presets(dir, filepath.Join(dir, "p/main.c")) {
		got = append(got, c.Label+": "+c.Build)
	}
	want := []string{"cmake preset fast: cd p && cmake --preset fast -B build/fast && cmake --build build/fast", "cmake preset my own: cd p && cmake --preset 'my own' -B 'build/my own' && cmake --build 'build/my own'"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
