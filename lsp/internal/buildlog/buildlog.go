// Package buildlog finds the messages of compilers in what a build prints.
//
//	line ─▶ Log.Add ─┬─ "make: Entering directory …" ─▶ where relative paths start
//	                 ├─ file:line:column: error: …   ─▶ Message (gcc, clang, go)
//	                 ├─ error[…]: …, then --> file:… ─▶ Message (rustc)
//	                 ├─ file:line:column:, then Error: … ─▶ Message (gfortran)
//	                 └─ file:line: undefined reference … ─▶ Message (ld, of what has debug information)
//
// What it does not know it passes over: a build that fails is told to have
// failed by its status, and its last lines are kept for that.
package buildlog

import (
	"path/filepath"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/internal/pattern"
)

// Log is what a build has printed so far.
type Log struct {
	Messages []Message
	Tail     []string // the last lines that say something, at most three

	dir    string // of the last "Entering directory"
	head   string // of rustc: what stands before the place
	hollow bool   // Tail says nothing yet but that it failed
	open   bool   // of gfortran: the message comes some lines after the place
}

// Message is a complaint of a compiler.
type Message struct {
	File     string // absolute, where the build's folder is
	Line     int    // from 1
	Text     string
	Severity protocol.DiagnosticSeverity // error or warning
}

// New is the log of a build that runs in a folder.
func New(dir string) *Log { return &Log{dir: dir} }

// maxMessages of one build are kept.
const maxMessages = 200

var (
	placed = pattern.New(`^([^\s:][^:]*):(\d+)(?::(\d+))?:\s*(?:(fatal error|error|warning|note|Error|Warning|Fatal Error):\s*)?(.*)$`)
	arrow  = pattern.New(`^\s*--> ([^:]+):(\d+):(\d+)$`)
	header = pattern.New(`^(error|warning)(\[\w+\])?: (.*)$`)
	later  = pattern.New(`^(Error|Warning|Fatal Error): (.*)$`)
	// What build tools say behind the reason: that something failed, and where they are.
	hollow   = pattern.New(`^[\s*=#_.~^|-]*$|^\S*make(\[\d+\])?: (\*\*\* .*(Error \d+|Waiting for unfinished jobs\.*)|(Entering|Leaving) directory .*)$|^-- Configuring incomplete|^See also "|^Call Stack \(most recent call first\):$|^  \S+:\d+(:EVAL:\d+)? \(\w+\)$|^ninja: build stopped|^Caused by:$`)
	linker   = pattern.New(`^\S*\bld(?:\.\w+)?: `)
	unlinked = pattern.New(`^(undefined reference to|multiple definition of) `)
	entering = pattern.New("^\\S*make(?:\\[\\d+\\])?: Entering directory ['`](.*)'$")
)

// Add reads a line that the build printed.
func (b *Log) Add(line string) {
	line = strings.TrimRight(line, " \r\n")
	b.keepTail(line)
	if len(b.Messages) >= maxMessages {
		return
	}
	if m := entering().FindStringSubmatch(line); m != nil {
		b.dir = m[1]
		return
	}
	if m := header().FindStringSubmatch(line); m != nil {
		b.head = m[1] + ": " + m[3]
		return
	}
	if m := arrow().FindStringSubmatch(line); m != nil && b.head != "" {
		what, message, _ := strings.Cut(b.head, ": ")
		b.keep(m[1], m[2], what, message)
		b.head = ""
		return
	}
	if m := later().FindStringSubmatch(line); m != nil && b.open {
		last := &b.Messages[len(b.Messages)-1]
		last.Text, last.Severity, b.open = m[2], severityOf(m[1]), false
		return
	}
	if m := placed().FindStringSubmatch(linker().ReplaceAllString(line, "")); m != nil {
		if m[4] == "" && m[5] != "" && m[3] == "" && !unlinked().MatchString(m[5]) {
			return // "In file included from …" and its like have no column
		}
		b.open = b.keep(m[1], m[2], m[4], m[5]) && m[5] == ""
	}
}

// keepTail keeps what a person is to read if the build fails: why, if anything says so.
func (b *Log) keepTail(line string) {
	switch {
	case line == "":
	case !hollow().MatchString(line):
		if b.hollow {
			b.Tail, b.hollow = nil, false
		}
		b.Tail = append(b.Tail, strings.Trim(line, " \t*"))
		b.Tail = b.Tail[max(0, len(b.Tail)-3):]
	case len(b.Tail) == 0 || b.hollow:
		b.Tail, b.hollow = []string{line}, true
	}
}

func (b *Log) keep(file, line, what, message string) bool {
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || what == "note" {
		return false
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(b.dir, file)
	}
	b.Messages = append(b.Messages, Message{file, n, message, severityOf(what)})
	return true
}

func severityOf(what string) protocol.DiagnosticSeverity {
	if strings.EqualFold(what, "warning") {
		return protocol.DiagnosticSeverityWarning
	}
	return protocol.DiagnosticSeverityError
}
