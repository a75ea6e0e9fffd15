package callgrind

import (
	"fmt"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
)

// names writes each name once and its number from then on. Numbers begin anew
// in each part.
type names map[string]int

func (n names) of(name string) string {
	name = units.Printable(name)
	if name == "" {
		name = "???" // as callgrind does
	}
	if id, ok := n[name]; ok {
		return fmt.Sprintf("(%d)", id)
	}
	n[name] = len(n) + 1
	return fmt.Sprintf("(%d) %s", len(n), name)
}

// at is an instruction's position: address and line. When the line is from
// another file than the last, it says so first.
func (c *writer) at(a profile.Addr, b *profile.Block) string {
	l := c.locate(a, b)
	if l.File != c.cur {
		what := "fi"
		if l.File == c.own {
			what = "fe"
		}
		c.cur = l.File
		c.line("%s=%s", what, c.files.of(l.File))
	}
	return fmt.Sprintf("0x%x %d", uint64(a), l.Line)
}

// locate is an instruction's innermost line; of one that nobody knows, the
// line where its block begins.
func (c *writer) locate(a profile.Addr, b *profile.Block) profile.Frame {
	if l, ok := c.known(a); ok {
		return l.Frame
	}
	l, _ := c.known(b.Start)
	return l.Frame
}

func (c *writer) known(a profile.Addr) (profile.Location, bool) {
	if l, ok := c.p.Location(a); ok {
		return l, l.Known()
	}
	if c.opt.Locate == nil {
		return profile.Location{}, false
	}
	l, asked := c.located[a]
	if !asked {
		if l, asked = c.opt.Locate(a); !asked {
			l = profile.Location{}
		}
		c.located[a] = l
	}
	return l, l.Known()
}

// outermost is the function itself at its entry, whatever was inlined there.
func (c *writer) outermost(f int) profile.Frame {
	l, _ := c.known(c.p.Graph.Functions[f].Entry)
	if n := len(l.InlinedAt); n > 0 {
		return l.InlinedAt[n-1]
	}
	return l.Frame
}

// objectOf is the file that a function is in.
func (c *writer) objectOf(f int) string {
	if l, _ := c.p.Program.Library(c.p.Graph.Functions[f].Entry); l != nil {
		return units.Printable(l.Path)
	}
	return units.Printable(c.p.Program.Path)
}

func (c *writer) fileOf(f int) string { return c.outermost(f).File }

func (c *writer) nameOf(f int) string {
	if name := c.outermost(f).Function; name != "" {
		return name
	}
	return c.p.Graph.Functions[f].Name
}
