package units

import (
	"strings"
	"unicode"
)

// Printable takes out of a name what would upset a terminal or a viewer: source
// files, symbols and arguments are not ours. It is one line of valid UTF-8.
func Printable(s string) string {
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
