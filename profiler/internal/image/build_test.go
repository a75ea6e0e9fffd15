package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// need finds one of the tools. Where the tests are meant to run for sure, it
// must be there.
func need(t testing.TB, tools ...string) string {
	t.Helper()
	for _, tool := range tools {
		if path, err := exec.LookPath(tool); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing, and CI must have it", tools[0])
	}
	t.Skipf("%s is not installed", tools[0])
	return ""
}

// output runs a tool, with messages in English.
func output(t testing.TB, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(need(t, name), args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil && len(out) == 0 { // readelf and objdump complain of details, and go on
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

// A variant is a way to build a test program.
type variant struct {
	name     string
	compiler string // "" is gcc or g++
	flags    string
	optional bool // the linker or compiler may be missing even in CI
}

var variants = []variant{
	{name: "default", flags: "-O2"},
	{name: "O0", flags: "-O0"},
	{name: "no-pie", flags: "-O2 -no-pie -fno-pie"},
	{name: "static", flags: "-O2 -static"},
	{name: "static-pie", flags: "-O2 -static-pie -fPIE"},
	{name: "no-plt", flags: "-O2 -fno-plt"},
	{name: "ibt", flags: "-O2 -fcf-protection=full -Wl,-z,ibtplt"},
	{name: "ibt-now", flags: "-O2 -fcf-protection=full -Wl,-z,ibtplt -Wl,-z,now"},
	{name: "ibt-no-pie", flags: "-O2 -fcf-protection=full -Wl,-z,ibtplt -no-pie -fno-pie"},
	{name: "now", flags: "-O2 -Wl,-z,now"},
	{name: "lazy", flags: "-O2 -Wl,-z,lazy"},
	{name: "relr", flags: "-O2 -Wl,-z,pack-relative-relocs", optional: true},
	{name: "stripped", flags: "-O2 -s"},
	{name: "sections", flags: "-O2 -ffunction-sections -Wl,--gc-sections"},
	{name: "gold", flags: "-O2 -fuse-ld=gold", optional: true},
	{name: "gold-now", flags: "-O2 -fuse-ld=gold -Wl,-z,now", optional: true},
	{name: "clang", compiler: "clang", flags: "-O2", optional: true},
	{name: "clang-ibt", compiler: "clang", flags: "-O2 -fcf-protection=full -Wl,-z,ibtplt", optional: true},
	{name: "lld", compiler: "clang", flags: "-O2 -fuse-ld=lld", optional: true},
	{name: "lld-ibt", compiler: "clang", flags: "-O2 -fcf-protection=full -fuse-ld=lld -Wl,-z,force-ibt", optional: true},
	{name: "lld-relr", compiler: "clang", flags: "-O2 -fuse-ld=lld -Wl,--pack-dyn-relocs=relr", optional: true},
	{name: "lld-no-pie", compiler: "clang", flags: "-O2 -no-pie -fno-pie -fuse-ld=lld", optional: true},
}

var built sync.Map // of path by name of source and variant

// build compiles a source of testdata, once for all tests.
func build(t testing.TB, source string, v variant, more ...string) string {
	t.Helper()
	key := source + v.name + strings.Join(more, " ")
	if path, ok := built.Load(key); ok {
		return path.(string)
	}
	names := []string{"gcc"}
	switch {
	case v.compiler == "clang" && strings.HasSuffix(source, ".cc"):
		names = []string{"clang++", "clang++-16", "clang++-19", "clang++-14"}
	case v.compiler == "clang":
		names = []string{"clang", "clang-16", "clang-19", "clang-14"}
	case strings.HasSuffix(source, ".cc"):
		names = []string{"g++"}
	}
	compiler := ""
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			compiler = path
			break
		}
	}
	if compiler == "" {
		if v.optional {
			t.Skipf("%s is not installed", names[0])
		}
		compiler = need(t, names...)
	}
	flags := strings.Fields(v.flags)
	for i, f := range flags {
		if f == "-fuse-ld=lld" { // Debian's lld has its version in its name
			for _, n := range []string{"ld.lld", "ld.lld-16", "ld.lld-19", "ld.lld-14"} {
				if path, err := exec.LookPath(n); err == nil {
					flags[i] = "--ld-path=" + path
					break
				}
			}
		}
	}
	path := filepath.Join(buildDir, strings.ReplaceAll(key, "/", "_"))
	args := append(append(flags, more...), "-o", path, filepath.Join("testdata", source))
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		if v.optional {
			t.Skipf("%s %s: %s", filepath.Base(compiler), strings.Join(args, " "), out)
		}
		t.Fatalf("%s %s: %s", filepath.Base(compiler), strings.Join(args, " "), out)
	}
	built.Store(key, path)
	return path
}

var buildDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		panic(err)
	}
	buildDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// load reads a program or library.
func load(t testing.TB, path string) *Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	im, _, err := read(path, f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if len(im.Doubts) > 0 {
		t.Errorf("%s: %s", path, strings.Join(im.Doubts, "; "))
	}
	return im
}

// everyProgram runs a test on all variants of both sources and on what the
// system has.
func everyProgram(t *testing.T, test func(t *testing.T, path string, im *Image)) {
	for _, source := range []string{"plain.c", "throws.cc"} {
		for _, v := range variants {
			t.Run(source+"/"+v.name, func(t *testing.T) {
				path := build(t, source, v)
				test(t, path, load(t, path))
			})
		}
	}
	for _, pattern := range []string{
		"/bin/bash", "/bin/ls", "/usr/bin/perl", "/usr/bin/make", "/usr/bin/gdb", "/usr/bin/git", "/usr/lib/gcc/x86_64-linux-gnu/*/cc1", "/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/lib64/ld-linux-x86-64.so.2",
	} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			t.Run(filepath.Base(path), func(t *testing.T) {
				if testing.Short() && filepath.Base(path) == "cc1" {
					t.Skip("short")
				}
				test(t, path, load(t, path))
			})
		}
	}
}
