package discover

import "github.com/skewlens/skewlens/internal/pattern"

var (
	openMP = pattern.New(`(?im)^\s*(#\s*pragma\s+omp\b|#\s*include\s*<omp\.h>|[!c*]\$omp\b)`)
	oneTBB = pattern.New(`(?m)^\s*#\s*include\s*[<"](execution>|tbb/|oneapi/tbb)`)
	// What compilers do not know before they are told that it is this C++.
	cxx23 = pattern.New(`(?m)^\s*#\s*include\s*<(print|expected|generator|flat_map|flat_set|mdspan|spanstream)>`)
	cxx20 = pattern.New(`(?m)^\s*#\s*include\s*<(barrier|latch|semaphore|stop_token|syncstream|ranges|concepts|coroutine|span|source_location|format|numbers|bit|compare)>` +
		`|\bstd::(jthread|stop_token|atomic_ref|barrier|latch)\b|\bco_(await|yield|return)\b|\bconcept\s+\w+\s*=|\brequires\s+(std::|\()`)
)

// needs are the options and the libraries that a text of C, C++ or Fortran cannot be
// compiled without.
func needs(path, text string) (flags, libraries string) {
	if openMP().MatchString(text) {
		flags += " -fopenmp"
	}
	if familyOf(path) != inCXX {
		return flags, ""
	}
	switch {
	case cxx23().MatchString(text):
		flags += " -std=c++23"
	case cxx20().MatchString(text):
		flags += " -std=c++20"
	}
	if oneTBB().MatchString(text) {
		libraries = " -ltbb"
	}
	return flags, libraries
}
