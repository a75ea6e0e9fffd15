package workspace

import (
	"fmt"
	"strconv"
	"strings"
)

// Suppression is a finding that is not to be shown; what is empty is any.
type Suppression struct {
	File     string `toml:"file"`
	Function string `toml:"function"`
	Kind     string `toml:"kind"`
	Line     string `toml:"line"`
}

// matches reports whether a finding is one that is not to be shown.
func (p Suppression) matches(path, function, kind, line string) bool {
	return p.File == path && (p.Function == "" || p.Function == function) &&
		(p.Kind == "" || p.Kind == kind) && (p.Line == "" || p.Line == line)
}

// TOML is how a suppression is written down.
func (p Suppression) TOML() string {
	return fmt.Sprintf("[[suppress]]\nfile = %s\nfunction = %s\nkind = %s\nline = %s\n", tomlString(p.File), tomlString(p.Function), tomlString(p.Kind), tomlString(p.Line))
}

// tomlString quotes as TOML does: like Go, but for what Go writes as \x and \a.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u00` + strconv.FormatInt(int64(r)+0x100, 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
