package profile

import (
	"path"
	"slices"
	"strings"
)

// A place in a system header, in the standard library or in a package that was fetched
// is none that the user of a report recognises: what happens there was asked for by
// whoever called it. So sections and causes are shown at the first place outside.

// headers are the directories, as they begin, that systems and compilers, also of
// languages that nobody here has heard of, keep headers and libraries in. What is
// installed beside them belongs to the system too.
var headers = []string{"/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/share/", "/usr/local/include/", "/usr/local/lib/", "/usr/src/rustc"}

// Pools are libraries that hand work out to threads, and that projects carry along, mostly
// as headers: by what the paths of their files have in them, wherever they lie.
var Pools = []string{"/boost/asio/", "/boost/thread/", "/boost/fiber/", "/taskflow/core/", "/taskflow/algorithm/", "/BS_thread_pool", "/ctpl.h", "/ctpl_stl.h",
	"/enkiTS/src/", "/marl/src/", "/marl/include/", "/concurrentqueue.h", "/blockingconcurrentqueue.h", "/lightweightsemaphore.h"}

// within are those that may be anywhere: of compilers, and where cargo, CMake's FetchContent,
// Conan, vcpkg, pip, Nix, dub, nimble, opam and Alire keep what they have fetched.
var within = []string{"/include/c++/", "/lib/gcc/", "/lib/clang/", "/lib/rustlib/", "/rustc/", "/libstdc++-v3/",
	"/cargo/registry/", "/.cargo/registry/", "/cargo/git/checkouts/", "/.cargo/git/checkouts/", "/_deps/", "/.conan/data/", "/.conan2/p/", "/vcpkg_installed/", "/vcpkg/installed/", "/vcpkg/packages/",
	"/site-packages/", "/dist-packages/", "/nix/store/", "/.dub/packages/", "/.nimble/pkgs", "/.opam/", "/alire/cache/",
	"/src/phobos/", "/src/druntime/", "/import/std/", "/import/core/", "/.choosenim/", // D's and Nim's own installers
	"/Kokkos_", "/RAJA/policy/"} // are headers that loops of the program are in

// ofRuntimes are how the names of functions begin, as a report has them, that languages bring
// along without lines: C++, the C library, D, OCaml, Free Pascal and Ada.
var ofRuntimes = []string{"std::", "__", "_start", "start_thread", "clone", "execute_native_thread_routine",
	"std.", "core.", "rt.", "object.", "gcc.", "_d_run_main", "thread_entryPoint",
	"caml_", "stw_", "Stdlib.", "Thread.", "Mutex.", "Condition.", "Event.", "SYSTEM.", "CLASSES.", "SYSUTILS.", "CTHREADS.", "system__", "ada__"}

// byCgo: cgo has written a file, between what a program has in Go and what it has in C.
func byCgo(file string) bool {
	name := path.Base(file)
	return strings.HasPrefix(name, "_cgo_") || strings.HasPrefix(name, "cgo-") && path.Ext(name) == ""
}

// System reports whether a file belongs to the system or the standard library,
// by its path as the debug information has it.
func System(file string) bool {
	begins := func(h string) bool { return strings.HasPrefix(file, h) }
	holds := func(h string) bool { return strings.Contains(file, h) }
	return slices.ContainsFunc(headers, begins) || slices.ContainsFunc(within, holds) || slices.ContainsFunc(Pools, holds) || holds("/bits/") && holds("/c++/") || byCgo(file) || byOCaml(file)
}

// byOCaml: a file is of OCaml's library, of which compilers keep paths as they were built.
func byOCaml(file string) bool {
	return path.Ext(file) == ".ml" && (strings.HasPrefix(file, "stdlib/") || strings.HasPrefix(file, "otherlibs/"))
}

// System reports whether a frame belongs to the system or the standard
// library. Without a line its function's name has to tell.
func (f Frame) System() bool {
	if f.File != "" && f.Line > 0 {
		return System(f.File) || f.goSystem()
	}
	begins := func(x string) bool { return strings.HasPrefix(f.Function, x) }
	return slices.ContainsFunc(ofRuntimes, begins) || strings.Contains(f.Function, " std::") // with what it returns
}

// Frames are the location's frames, from the inside outwards.
func (l Location) Frames() []Frame { return append([]Frame{l.Frame}, l.InlinedAt...) }

// Outside returns how many of the location's frames, from the inside outwards,
// are left out to come to the first one that is not the system's; 0 where all are.
func (l Location) Outside() int {
	if !l.Frame.System() { // as mostly
		return 0
	}
	for i, f := range l.InlinedAt {
		if !f.System() {
			return i + 1
		}
	}
	return 0
}

// goStandard are the first folders of Go's standard library.
var goStandard = strings.Fields("archive bufio builtin bytes cmp compress container context crypto database debug embed encoding errors expvar flag fmt go hash " +
	"html image index internal io iter log maps math mime net os path plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing " +
	"text time unicode unique unsafe vendor weak")

// goSystem reports whether a function in Go is of the standard library, or of
// what Go's own authors add to package sync. The file of package sort is
// …/src/sort/sort.go; a program of that name has a function main.f in it. The
// library's tests are read by those who write it.
func (f Frame) goSystem() bool {
	if ext := path.Ext(f.File); ext != ".go" && ext != ".s" || strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	slash := strings.LastIndexByte(f.Function, '/')
	dot := strings.IndexByte(f.Function[slash+1:], '.')
	if dot < 0 {
		return false
	}
	pkg := f.Function[:slash+1+dot]
	if strings.HasPrefix(pkg, "golang.org/x/sync/") || inGoRoot(f.File) {
		return true
	}
	first, _, _ := strings.Cut(pkg, "/")
	folder := path.Dir(f.File)
	return slices.Contains(goStandard, first) && (folder == pkg || strings.HasSuffix(folder, "/src/"+pkg))
}

// inGoRoot: a file is of the standard library where Go mostly is installed. What is inlined
// from there, an iterator's literal, may bear the name of the function that it was inlined in.
func inGoRoot(file string) bool {
	_, in, is := strings.Cut(file, "/usr/local/go/src/")
	if _, toolchain, fetched := strings.Cut(file, "/golang.org/toolchain@"); fetched {
		_, in, is = strings.Cut(toolchain, "/src/")
	}
	first, _, folder := strings.Cut(in, "/")
	return is && folder && slices.Contains(goStandard, first)
}

// others are the folders in which projects keep what others wrote, each in a folder of its own.
var others = []string{"/third_party/", "/third-party/", "/thirdparty/", "/3rd_party/", "/3rd-party/", "/3rdparty/", "/external/", "/externals/", "/extern/", "/deps/", "/subprojects/"}

// Module is the folder of what a file is of that was fetched, not written for the program: a
// module in Go, with its version, the folder that such modules are kept in beside the program,
// or that of what others wrote within one for that; "" else. Of a program that was itself
// fetched all may be in such a folder.
func Module(file string) string {
	if before, _, kept := strings.Cut(file, "/vendor/"); kept {
		return before + "/vendor"
	}
	for _, x := range others {
		if i := strings.LastIndex(file, x); i >= 0 {
			name, _, _ := strings.Cut(file[i+len(x):], "/")
			return file[:i+len(x)] + name
		}
	}
	before, after, fetched := strings.Cut(file, "@v")
	version, _, in := strings.Cut(after, "/")
	if !fetched || !in {
		return ""
	}
	return before + "@v" + version
}

// Fetched reports whether a file is of what others wrote, and the program uses: of another module
// than the file of the program's main function, which is asked for where that matters; "" is not
// known. That of a test in Go does not tell.
func Fetched(file string, main func() string) bool {
	module := Module(file)
	if module == "" {
		return false
	}
	own := main()
	return own != "" && path.Base(own) != "_testmain.go" && module != Module(own)
}

// Main reports whether a function of that name is where a program begins: in C and its kin,
// Fortran, or Rust, where main calls it in its crate.
func Main(function string) bool {
	return function == "main" || function == "MAIN__" || strings.HasPrefix(function, "_ZN") && strings.Count(function, "4main17h") == 1
}
