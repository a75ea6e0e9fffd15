package lsp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/skewlens/skewlens/profile"
)

// maxProgram bounds programs that are read for lenses.
const maxProgram = 1 << 30

// siteCache knows the calls that end sections in built programs.
type siteCache struct {
	read func(string) ([]profile.Location, error)
	mu   sync.Mutex // held while a program is read: nobody needs two at once
	of   map[string]programSites
}

type programSites struct {
	built time.Time
	size  int64
	found []profile.Location
}

func newSiteCache(read func(string) ([]profile.Location, error)) *siteCache {
	return &siteCache{read: read, of: map[string]programSites{}}
}

// get reads a program that it does not know, or that was built again. A
// program that is not there, or cannot be read, has no sites.
func (c *siteCache) get(program string) programSites {
	info, err := os.Stat(program)
	if c.read == nil || err != nil || !info.Mode().IsRegular() || info.Size() > maxProgram {
		return programSites{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.of[program]; ok && p.built.Equal(info.ModTime()) && p.size == info.Size() {
		return p
	}
	p := programSites{built: info.ModTime(), size: info.Size()}
	p.found, _ = c.read(program)
	if len(c.of) > 64 {
		clear(c.of)
	}
	c.of[program] = p
	return p
}

// siteMarks are the sections of a document before any run.
type siteMarks struct {
	built  time.Time // of the program they are from
	lines  []point
	edited bool // since they were taken over
}

func (m *siteMarks) follow(e edit, old, new *text) {
	m.edited = true
	for i, p := range m.lines {
		a := anchor{now: p}
		a.follow(e, old, new)
		m.lines[i] = a.now
	}
}

// takeSites takes over what programs know of a document, if it is what they
// were built from: neither edited nor newer.
func (s *server) takeSites(d *document, programs map[*Target]programSites) {
	info, err := os.Stat(d.path)
	if err != nil {
		return
	}
	for t, p := range programs {
		if !p.built.After(d.sites.built) || info.ModTime().After(p.built) {
			continue
		}
		var lines []point
		for _, l := range p.found {
			// As for findings: the innermost place that is the user's own.
			for _, f := range append([]profile.Frame{l.Frame}, l.InlinedAt...) {
				if path := s.localPath(f.File, t.Cwd); f.Line > 0 && s.rootOf(path) != nil {
					if path == d.path {
						lines = append(lines, point{f.Line - 1, 0})
					}
					break
				}
			}
		}
		if disk := readText(d.path); len(lines) > 0 && disk != nil && disk.s == d.text.s {
			d.sites = siteMarks{built: p.built, lines: lines}
		}
	}
}

// siteLines are the lines of a document on which a section may end.
func (d *document) siteLines() map[int]bool {
	lines := map[int]bool{}
	for _, p := range d.sites.lines {
		lines[p.line] = true
	}
	if len(lines) == 0 || d.sites.edited {
		for _, l := range scan(d.text, d.language, d.path) {
			lines[l] = true
		}
	}
	return lines
}

var (
	// What a scan looks at closely; everything else is passed over fast.
	hints = []string{"barrier", "BARRIER", "join", "arrive_and_wait", "omp"}

	callC       = regexp.MustCompile(`\b(pthread_barrier_wait|pthread_join|thrd_join|\w*BARRIER\w*)\s*\(|\.(arrive_and_wait|join)\s*\(|^\s*#\s*pragma\s+omp\b.*\bparallel\b`)
	callRust    = regexp.MustCompile(`\.(join|wait)\s*\(\s*\)`)
	callFortran = regexp.MustCompile(`(?i)^\s*[!c*]\$omp\s+parallel\b`)
	notACall    = regexp.MustCompile(`^\s*(#\s*(define|undef|if|ifdef|ifndef|include)|extern\b)|BARRIER_?(INIT|DESTROY|DEC)|\b(join|arrive_and_wait)\s*\([^)]*\)\s*(const\s*)?\{`)
)

// scan guesses from a text alone where sections end, for programs that are not
// built yet. It need not be exact: a run is.
func scan(t *text, language, path string) []int {
	var call *regexp.Regexp
	switch languageOf(language, path) {
	case "c":
		call = callC
	case "rust":
		call = callRust
	case "fortran":
		call = callFortran
	default:
		return nil
	}
	var out []int
	comment := false
	for i := range t.starts {
		line := t.line(i)
		if call == callC {
			line, comment = uncommented(line, comment)
		}
		if !hinted(line) || !call.MatchString(line) || notACall.MatchString(line) {
			continue
		}
		out = append(out, i)
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

// uncommented takes comments out of a line of C.
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
	case "rust", "fortran":
		return language
	}
	if strings.HasPrefix(language, "fortran") || strings.HasPrefix(language, "Fortran") {
		return "fortran"
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".cu", ".c++":
		return "c"
	case ".rs":
		return "rust"
	case ".f", ".f90", ".f95", ".f03", ".f08", ".for":
		return "fortran"
	}
	return ""
}

// peek is what is known of a program already.
func (c *siteCache) peek(program string) (programSites, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.of[program]
	return p, ok
}

// holds reports whether a program has a section in a file.
func (p programSites) holds(s *server, t Target, path string) bool {
	for _, l := range p.found {
		if l.File != "" && s.localPath(l.File, t.Cwd) == path {
			return true
		}
	}
	return false
}
