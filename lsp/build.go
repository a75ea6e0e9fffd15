package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
)

// build runs a target's build command, if it has one. What compilers say when
// it fails becomes diagnostics where they say it.
func (s *server) build(ctx context.Context, t Target, p *progress) error {
	s.mu.Lock()
	clear(s.built)
	s.publish()
	s.mu.Unlock()
	if t.Build == "" {
		return nil
	}
	p.report("building: "+t.Build, -1)
	b := &buildLog{dir: t.Root}
	err := s.opt.Runner.Build(ctx, t, func(line string) {
		s.log(typeLog, t.Name+": "+line)
		b.add(line)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.disk)
	errors := 0
	for _, m := range b.found {
		path := s.localPath(m.file, b.dir)
		if s.rootOf(path) == nil {
			continue
		}
		text := s.textOf(path)
		if text == nil {
			continue
		}
		if m.severity == severityError {
			errors++
		}
		s.built[path] = append(s.built[path], diagnostic{
			Range: text.words(s.enc, m.line-1), Severity: m.severity, Source: "skewlens build", Message: m.message,
		})
	}
	s.publish()
	if errors > 0 {
		return fmt.Errorf("the build of %s failed with %s: see the diagnostics", t.Name, units.Plural(errors, "error"))
	}
	return fmt.Errorf("the build of %s failed (%w): %s", t.Name, err, strings.Join(b.tail, " · "))
}

// buildLog reads what compilers print: gcc, clang, rustc, gfortran, go.
type buildLog struct {
	dir   string // of the last "Entering directory"
	found []compilerMessage
	tail  []string // the last lines
	head  string   // of rustc: what stands before the place
	open  bool     // of gfortran: the message comes some lines after the place
}

type compilerMessage struct {
	file     string
	line     int
	message  string
	severity int
}

// maxMessages of one build are kept.
const maxMessages = 200

var (
	placed   = regexp.MustCompile(`^([^\s:][^:]*):(\d+)(?::(\d+))?:\s*(?:(fatal error|error|warning|note|Error|Warning|Fatal Error):\s*)?(.*)$`)
	arrow    = regexp.MustCompile(`^\s*--> ([^:]+):(\d+):(\d+)$`)
	header   = regexp.MustCompile(`^(error|warning)(\[\w+\])?: (.*)$`)
	later    = regexp.MustCompile(`^(Error|Warning|Fatal Error): (.*)$`)
	entering = regexp.MustCompile("^\\S*make(?:\\[\\d+\\])?: Entering directory ['`](.*)'$")
)

func (b *buildLog) add(line string) {
	line = strings.TrimRight(line, " \r\n")
	if line != "" {
		b.tail = append(b.tail, line)
		b.tail = b.tail[max(0, len(b.tail)-3):]
	}
	if len(b.found) >= maxMessages {
		return
	}
	if m := entering.FindStringSubmatch(line); m != nil {
		b.dir = m[1]
		return
	}
	if m := header.FindStringSubmatch(line); m != nil {
		b.head = m[1] + ": " + m[3]
		return
	}
	if m := arrow.FindStringSubmatch(line); m != nil && b.head != "" {
		what, message, _ := strings.Cut(b.head, ": ")
		b.keep(m[1], m[2], what, message)
		b.head = ""
		return
	}
	if m := later.FindStringSubmatch(line); m != nil && b.open {
		last := &b.found[len(b.found)-1]
		last.message, last.severity, b.open = m[2], severityOf(m[1]), false
		return
	}
	if m := placed.FindStringSubmatch(line); m != nil {
		if m[4] == "" && m[5] != "" && m[3] == "" {
			return // "In file included from …" and its like have no column
		}
		b.open = b.keep(m[1], m[2], m[4], m[5]) && m[5] == ""
	}
}

func (b *buildLog) keep(file, line, what, message string) bool {
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || what == "note" {
		return false
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(b.dir, file)
	}
	b.found = append(b.found, compilerMessage{file, n, message, severityOf(what)})
	return true
}

func severityOf(what string) int {
	if strings.EqualFold(what, "warning") {
		return severityWarning
	}
	return severityError
}
