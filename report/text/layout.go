package text

import (
	"strings"

	"github.com/skewlens/skewlens/report/internal/words"
)

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

func (t *writer) paint(c color, s string) string {
	if !t.opt.Color || s == "" {
		return s
	}
	return string(c) + s + plain
}

// width is how many columns s takes; colours take none.
func width(s string) int { return words.Columns.StringWidth(uncolored(s)) }

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
