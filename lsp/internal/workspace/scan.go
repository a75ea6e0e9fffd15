package workspace

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/text"
)

var (
	// What a scan looks at closely; everything else is passed over fast.
	hints = []string{"barrier", "BARRIER", "join", "arrive_and_wait", "omp", "parallel_", "execution::par", "par_", "scope", "parallel(", "yieldForce", "WaitFor", "forall", ".run", "blocking", "dispatch_apply"}

	// A barrier of memory is called without an argument, one of threads is not, but for BARRIER itself.
	callC = pattern.New(`\b(pthread_barrier_wait|pthread_join|thrd_join|BARRIER)\s*\(|\b\w*BARRIER\w*\s*\(\s*[^)\s]|(\.|->)(arrive_and_wait|join)\s*\(|` +
		`\btbb::parallel_\w+\s*\(|\bparallel_(for|reduce|scan|sort|invoke|do)\w*\s*(<[^()]*>)?\(|\bRAJA::forall\s*<|\bQtConcurrent::blocking\w+\s*[(<]|\bdispatch_apply\s*\(|\.run(_n|_until)?\s*\([^;]*\)\s*\.\s*(wait|get)\s*\(\s*\)|\bexecution::par(_unseq)?\s*,|^\s*#\s*pragma\s+omp\b.*\bparallel\b`)
	callRust    = pattern.New(`\.(join|wait)\s*\(\s*\)|\.(into_)?par_(iter|iter_mut|chunks|chunks_mut|bridge|sort\w*)\s*\(|\b(thread|rayon)::(scope|join)\s*\(`)
	callFortran = pattern.New(`(?i)^\s*[!c*]\$omp\s+parallel\b`)
	// Of other languages what ends their threads and tasks.
	callD      = pattern.New(`\.(join|yieldForce)\b|\bparallel\s*\(`)
	callNim    = pattern.New(`\bjoinThreads?\b`)
	callOCaml  = pattern.New(`\b(Thread|Domain)\.join\b`)
	callPascal = pattern.New(`(?i)\.WaitFor\b`)
	// Of Go only what is a group of goroutines: commands and conditions have a Wait too.
	groupGo = pattern.New(`(\w+)\s+\*?(?:\w+\.WaitGroup|errgroup\.Group)\b|(\w+)(?:\s*,\s*\w+)?\s*:?=\s*&?(?:new\()?(?:\w+\.WaitGroup|errgroup\.(?:Group|WithContext))\b`)
	waitGo  = pattern.New(`(\w+)\.Wait\(\)|\.(RunParallel)\(`)

	notACall = pattern.New(`^\s*(#\s*(define|undef|if|ifdef|ifndef|include)|extern\b)|BARRIER_?(INIT|DESTROY|DEC)|(INIT|DESTROY|DEFINE|DECLARE)_?BARRIER|\b(join|arrive_and_wait)\s*\([^)]*\)\s*(const\s*)?\{`)
	// A word before a name makes it a declaration, unless it is one of those that begin a statement.
	typed = pattern.New(`(\w+)[\s*&]+$`)
)

// scan guesses from a text alone where sections end, for programs that are not
// built yet. It need not be exact: a run is.
func scan(t *text.Text, language, path string) []int {
	var call *regexp.Regexp
	switch languageOf(language, path) {
	case "c":
		call = callC()
	case "rust":
		call = callRust()
	case "fortran":
		call = callFortran()
	case "d":
		call = callD()
	case "nim":
		call = callNim()
	case "ocaml":
		call = callOCaml()
	case "pascal":
		call = callPascal()
	case "go":
		return scanGo(t)
	default:
		return nil
	}
	var out []int
	comment := false
	for i := range t.Lines() {
		line := t.Line(i)
		if call == callC() || call == callRust() || call == callD() {
			line, comment = uncommented(line, comment)
		}
		if hinted(line) && call.MatchString(line) && !notACall().MatchString(line) && !(call == callC() && declares(line)) {
			out = append(out, i)
		}
	}
	return out
}

// declares reports whether what is called on a line of C is only declared there.
func declares(line string) bool {
	m := typed().FindStringSubmatch(line[:callC().FindStringIndex(line)[0]])
	return m != nil && !slices.Contains(statements, m[1])
}

// statements are words that a call may stand behind.
var statements = []string{"return", "else", "do", "throw", "co_return", "co_await", "co_yield", "and", "or", "not"}

// scanGo finds where groups of goroutines are waited for that the text declares.
func scanGo(t *text.Text) (out []int) {
	groups := map[string]bool{}
	for _, m := range groupGo().FindAllStringSubmatch(t.String(), -1) {
		groups[m[1]+m[2]] = true
	}
	comment, line := false, ""
	for i := range t.Lines() {
		line, comment = uncommented(t.Line(i), comment)
		for _, m := range waitGo().FindAllStringSubmatch(line, -1) {
			if groups[m[1]] || m[2] != "" {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

func hinted(line string) bool {
	for _, h := range hints {
		if strings.Contains(line, h) {
			return true
		}
	}
	return strings.Contains(line, ".wait") || strings.Contains(line, "OMP")
}

// uncommented takes comments out of a line of C, or of a language that has the same.
func uncommented(line string, inside bool) (string, bool) {
	if !inside && !strings.Contains(line, "/") {
		return line, false
	}
	var b strings.Builder
	for {
		if inside {
			i := strings.Index(line, "*/")
			if i < 0 {
				return b.String(), true
			}
			line, inside = line[i+2:], false
		}
		i := strings.IndexByte(line, '/')
		for i >= 0 && i+1 < len(line) && line[i+1] != '/' && line[i+1] != '*' {
			j := strings.IndexByte(line[i+1:], '/')
			if j < 0 {
				i = -1
				break
			}
			i += 1 + j
		}
		if i < 0 || i+1 >= len(line) {
			b.WriteString(line)
			return b.String(), false
		}
		b.WriteString(line[:i])
		if line[i+1] == '/' {
			return b.String(), false
		}
		line, inside = line[i+2:], true
	}
}

// languageOf is what a scan makes of a document; "" is none that it knows.
func languageOf(language, path string) string {
	switch language {
	case "c", "cpp", "cuda-cpp", "cuda", "objective-c", "objective-cpp":
		return "c"
	case "rust", "fortran", "go", "d", "nim", "ocaml", "pascal":
		return language
	}
	if language == "objectpascal" {
		return "pascal"
	}
	if strings.HasPrefix(language, "fortran") || strings.HasPrefix(language, "Fortran") {
		return "fortran"
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".cu", ".c++":
		return "c"
	case ".rs":
		return "rust"
	case ".go":
		return "go"
	case ".d":
		return "d"
	case ".nim":
		return "nim"
	case ".ml":
		return "ocaml"
	case ".pas", ".lpr", ".dpr":
		return "pascal"
	case ".f", ".f90", ".f95", ".f03", ".f08", ".for":
		return "fortran"
	}
	return ""
}
