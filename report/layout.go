package report

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// columns counts terminal columns. East Asian "ambiguous" characters, our own
// bars among them, are one column wide: asking the locale would make a report
// depend on where it was written.
var columns = runewidth.Condition{EastAsianWidth: false}

type color string

const (
	bold   color = "\x1b[1m"
	dim    color = "\x1b[2m"
	red    color = "\x1b[31m"
	green  color = "\x1b[32m"
	yellow color = "\x1b[33m"
	cyan   color = "\x1b[36m"
	plain        = "\x1b[0m"
)

func (t *text) paint(c color, s string) string {
	if !t.opt.Color || s == "" {
		return s
	}
	return string(c) + s + plain
}

// width is how many columns s takes; colours take none.
func width(s string) int { return columns.StringWidth(uncolored(s)) }

func uncolored(s string) string {
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return s
		}
		j := strings.IndexByte(s[i:], 'm')
		if j < 0 {
			return s
		}
		s = s[:i] + s[i+j+1:]
	}
}

// cut shortens plain text to w columns.
func cut(s string, w int) string { return columns.Truncate(s, w, "…") }

// wrap joins items with sep into lines of at most first, then rest columns. An
// item longer than a line stands alone.
func wrap(items []string, sep string, first, rest int) []string {
	lines, room := []string{}, first
	for _, it := range items {
		if n := len(lines) - 1; n >= 0 && width(lines[n])+width(sep)+width(it) <= room {
			lines[n] += sep + it
			continue
		} else if n >= 0 {
			room = rest
		}
		lines = append(lines, it)
	}
	return lines
}

// printable takes out what would upset a terminal: source files and symbol
// names are not ours.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// symbol is a function's name; those of C++ can be longer than a page.
func symbol(s string) string { return cut(printable(s), 60) }

// path shows a file relative to the current directory when it is below it.
func (t *text) path(file string) string {
	if t.opt.Dir != "" {
		if rel, err := filepath.Rel(t.opt.Dir, file); err == nil && !strings.HasPrefix(rel, "..") {
			file = rel
		}
	}
	return printable(file)
}

// fileOf is the part of a section's id before its line.
func fileOf(id string) string {
	if i := strings.LastIndexByte(id, ':'); i >= 0 {
		return id[:i]
	}
	return id
}
