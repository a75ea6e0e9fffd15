package cfg

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/image"
)

// Library functions that matter for control flow. A missing name costs
// precision at worst: a call that never returns but is not listed looks like
// it falls through, which decode notices when there is nothing to fall into.

var neverReturns = map[string]bool{
	"exit": true, "_exit": true, "_Exit": true, "quick_exit": true, "abort": true, "pthread_exit": true, "thrd_exit": true,
	"__stack_chk_fail": true, "__assert_fail": true, "__assert": true, "__fortify_fail": true, "__chk_fail": true,
	"_Unwind_Resume": true, "__cxa_throw": true, "__cxa_rethrow": true, "__cxa_throw_bad_array_new_length": true,
	"__cxa_bad_cast": true, "__cxa_bad_typeid": true, "__cxa_pure_virtual": true, "__clang_call_terminate": true, "_ZSt9terminatev": true, "longjmp": true, "_longjmp": true,
	"siglongjmp": true, "__longjmp_chk": true, "err": true, "errx": true, "verr": true, "verrx": true, "__libc_fatal": true,
}

// endsThread are those that end no more than the thread that calls them.
var endsThread = map[string]bool{"pthread_exit": true, "thrd_exit": true}

func noReturnName(n string) bool {
	return neverReturns[n] || strings.HasPrefix(n, "_ZSt") && strings.Contains(n, "__throw_")
}

// unwinders raise exceptions, jump over frames or leave a whole stack.
var unwinders = []string{"_Unwind_RaiseException", "_Unwind_ForcedUnwind", "__cxa_throw", "__cxa_rethrow", "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk",
	"setcontext", "swapcontext"}

// leafImports are library functions that only compute: they call nothing back
// and have no use for the address they return to. (Others do: dlopen and
// dlsym ask who calls, allocators record it.)
var leafImports = map[string]bool{}

func init() {
	for _, n := range strings.Fields("sqrt cbrt hypot sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 exp10 expm1 log log2 log10 log1p pow " +
		"fmod remainder floor ceil round rint nearbyint trunc lround lrint fabs fmin fmax fma ldexp frexp modf erf erfc tgamma copysign sincos") {
		leafImports[n], leafImports[n+"f"], leafImports["__"+n+"_finite"] = true, true, true
	}
	for _, n := range strings.Fields("memcpy memmove memset memcmp memchr strlen strnlen strcmp strncmp strcpy strncpy strcat strncat strchr strrchr strstr " +
		"__memcpy_chk __memset_chk __memmove_chk __strcpy_chk __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location") {
		leafImports[n] = true
	}
}

// LeafImport reports whether a call is one of a library function that only
// computes.
func (c *Call) LeafImport() bool { return leafImports[c.Import] || begins(c.Import, leafRuntime) }

// leafRuntime are beginnings of such names of OpenMP's: what it knows, and what it
// deals out.
var leafRuntime = []string{"omp_get_", "omp_in_", "GOMP_loop_static_", "GOMP_loop_dynamic_", "GOMP_loop_guided_", "GOMP_loop_runtime_",
	"GOMP_loop_nonmonotonic_", "GOMP_loop_maybe_nonmonotonic_", "GOMP_loop_ull_", "GOMP_sections_start", "GOMP_sections_next", "GOMP_single_start",
	"GOMP_single_copy_start", "GOMP_taskgroup_start", "GOMP_atomic_"}

// UsesGS reports whether the program addresses memory through GS itself, or may
// change where GS leads.
func (p *Program) UsesGS() bool {
	if p.Image.Go != nil {
		return slices.ContainsFunc(p.Funcs, func(f *Func) bool { return f.usesGS }) // the runtime sets FS alone
	}
	return p.Image.Imports["arch_prctl"] || slices.ContainsFunc(p.Funcs, func(f *Func) bool { return f.usesGS })
}

// Readers of return addresses: who raises exceptions or walks stacks, by the C
// library, libgcc or libunwind or by itself (that asks which code is loaded);
// who is told of each call; who asks for whom something is loaded or looked up.
// What is loaded later may be any of them.
var readers = []string{"_Unwind_", "unw_", "_ULx86_64_", "_Ux86_64_", "backtrace", "__cxa_throw", "__cxa_rethrow", "pthread_exit", "thrd_exit",
	"mcount", "_mcount", "__fentry__", "__cyg_profile_func_", "dl_iterate_phdr", "_dl_find_object", "__register_frame",
	"dlopen", "dlmopen", "dlsym", "dlvsym", "dladdr", "__morestack", "caml_"}

// handles are library functions by which a handler comes to interrupt a function anywhere.
var handles = []string{"sigaction", "signal", "__sysv_signal", "bsd_signal", "sigset", "pthread_setcanceltype"}

// Matters reports whether it matters to those who run beside it that a library
// imports a function: for who may look at their stacks, or jump over them.
func Matters(name string) bool {
	return begins(name, readers) || slices.Contains(handles, name) || slices.Contains(unwinders, name)
}

func begins(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(x string) bool { return strings.HasPrefix(name, x) })
}

// Unwinds reports whether somebody may look at return addresses: they then have
// to be those of the original code. longjmp does not: it takes back registers
// that were saved, and asks nobody how they came about.
func (p *Program) Unwinds() bool {
	if p.cancels || p.Image.Static || slices.ContainsFunc(p.all, func(im *image.Image) bool { return len(im.Landings) > 0 }) {
		return true
	}
	return p.names(readers...) || p.Traces() || slices.ContainsFunc(p.Funcs, func(f *Func) bool { return f.reads && !f.Go })
}

// Traces reports whether somebody may do so in a signal handler, which
// interrupts any function: by what it calls for that, or by itself, from frame
// pointer to frame pointer, where most functions have one.
func (p *Program) Traces() bool {
	framed, all := 0, 0
	for _, f := range p.Funcs {
		if f.Go {
			continue // see golang.go
		}
		if all++; f.framed {
			framed++
		}
	}
	return p.names(handles...) && (p.names(readers...) || 2*framed > all)
}

// Leaps reports whether a signal handler or another thread can take a thread
// out of a loop for good.
func (p *Program) Leaps() bool {
	return (p.Image.Go == nil || p.Image.Cgo) && p.names("siglongjmp", "longjmp", "_longjmp", "__longjmp_chk", "pthread_cancel", "setcontext", "swapcontext")
}

// names reports whether one of the images imports a function whose name begins
// so, or, where nothing is imported, has one of that name.
func (p *Program) names(prefixes ...string) bool {
	for _, x := range prefixes {
		for _, im := range p.all {
			for n := range im.Imports {
				if strings.HasPrefix(n, x) {
					return true
				}
			}
		}
		if p.Image.Static && p.HasFunc(x) {
			return true
		}
	}
	return false
}

func setJmpName(n string) bool {
	return n == "_setjmp" || n == "setjmp" || n == "__sigsetjmp" || n == "sigsetjmp" || n == "getcontext"
}

// quiet prefixes of library functions that neither throw nor call back.
var quiet = []string{"mem", "str", "_ZdlPv", "_Zda", "free", "malloc", "calloc", "realloc", "printf", "puts", "putchar", "__cxa_begin_catch",
	"__cxa_end_catch", "__cxa_allocate", "__cxa_free", "__cxa_guard", "__cxa_atexit", "backtrace", "__printf", "__fprintf", "fprintf", "exit", "abort"}

// mayThrowName reports whether an exception may pass through a call of a
// library function: C++ and Rust names, and what calls back.
func mayThrowName(n string) bool {
	if n == "" {
		return true
	}
	if noReturnName(n) {
		switch n {
		case "exit", "_exit", "_Exit", "abort", "__stack_chk_fail", "__assert_fail":
			return false
		}
		return true
	}
	if strings.HasSuffix(n, "context") {
		return slices.Contains(unwinders, n)
	}
	for _, p := range quiet {
		if strings.HasPrefix(n, p) {
			return false
		}
	}
	return strings.HasPrefix(n, "_Unwind_Raise") || strings.HasPrefix(n, "_R") || strings.HasPrefix(n, "_Z") ||
		strings.HasPrefix(n, "__cxa") || callsBack(n)
}

// callsBack lists library functions that call a function of the program.
func callsBack(n string) bool {
	for _, s := range []string{"qsort", "bsearch", "lsearch", "lfind", "tsearch", "tfind", "twalk", "ftw", "call_once", "pthread_once", "GOMP_", "__kmpc_fork", "scandir", "glob"} {
		if strings.Contains(n, s) {
			return true
		}
	}
	return false
}
