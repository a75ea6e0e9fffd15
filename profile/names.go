package profile

import (
	"fmt"
	"strconv"
	"strings"
)

var edgeKinds = [...]string{"fall", "taken", "jump", "table", "call", "indirect", "tail-call", "start", "pad", "exit"}

func (k EdgeKind) String() string {
	if int(k) < len(edgeKinds) {
		return edgeKinds[k]
	}
	return fmt.Sprintf("EdgeKind(%d)", uint8(k))
}

var eventKinds = [...]string{"block", "edge", "hardware"}

func (k EventKind) String() string {
	if int(k) < len(eventKinds) {
		return eventKinds[k]
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// labels are the names that the text twin uses in place of indices, so that a
// block added to one function does not change the lines of all the others: a
// function by its name, a block by its function and its number there
// (work.3), an event by what it counts (work.3, work.3>work.5,
// l1d-miss@0x1040). A name that is taken gets its index: work#12.
type labels struct {
	function, block, event []string
}

func (p *Profile) labels() labels {
	g := &p.Graph
	var l labels
	used := map[string]bool{}
	add := func(to *[]string, label string) {
		base := label
		for i := len(*to); used[label] || label == "" || label == "-"; i++ {
			label = base + "#" + strconv.Itoa(i)
		}
		used[label] = true
		*to = append(*to, label)
	}
	for i := range g.Functions {
		add(&l.function, g.Functions[i].Name)
	}
	used = map[string]bool{}
	for i := range g.Blocks {
		f := g.Blocks[i].Function
		add(&l.block, l.function[f]+"."+strconv.Itoa(i-int(g.Functions[f].First)))
	}
	used = map[string]bool{}
	for i := range p.Events {
		switch e := &p.Events[i]; e.Kind {
		case BlockEntered:
			add(&l.event, l.ofBlock(e.Block))
		case EdgeTaken:
			edge := &g.Edges[e.Edge]
			add(&l.event, l.ofBlock(edge.From)+">"+l.ofBlock(edge.To))
		default:
			add(&l.event, fmt.Sprintf("%s@%#x", e.Name, uint64(e.Addr)))
		}
	}
	return l
}

func (l *labels) ofBlock(b BlockID) string {
	if b == NoBlock {
		return "-"
	}
	return l.block[b]
}

// word writes a string as one word of a line: quoted where it would not read
// back as itself.
func word(s string) string {
	bare := s != "" && s[0] != '#' && strings.IndexFunc(s, func(r rune) bool {
		return r == ' ' || r == '"' || r == '=' || r == '�' || !strconv.IsPrint(r)
	}) < 0
	if bare {
		return s
	}
	return strconv.Quote(s)
}

// words splits a line into its plain words and its key=value pairs.
func words(line string) (plain []string, pairs map[string]string, err error) {
	pairs = map[string]string{}
	for rest := strings.TrimLeft(line, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		key := ""
		if i := strings.IndexAny(rest, "= \t\""); i > 0 && rest[i] == '=' {
			key, rest = rest[:i], rest[i+1:]
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			q, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, nil, fmt.Errorf("the quotes of %.40s do not close", rest)
			}
			if value, err = strconv.Unquote(q); err != nil {
				return nil, nil, err
			}
			rest = rest[len(q):]
			if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				return nil, nil, fmt.Errorf("no space after %s", q)
			}
		} else {
			end := strings.IndexAny(rest, " \t")
			if end < 0 {
				end = len(rest)
			}
			value, rest = rest[:end], rest[end:]
		}
		if key == "" {
			plain = append(plain, value)
			continue
		}
		if _, twice := pairs[key]; twice {
			return nil, nil, fmt.Errorf("%s is given twice", key)
		}
		pairs[key] = value
	}
	return plain, pairs, nil
}
