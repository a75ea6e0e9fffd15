package cfg

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

var update = flag.Bool("update", false, "write the golden files")

// TestRules makes graphs of the assembly in testdata and compares what it
// found, in the source's own labels, with a golden file. Above each function
// stands the rule that it is about, which a failure repeats.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/*.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".s"), func(t *testing.T) {
			s := readSource(t, file)
			p, labels := s.build(t)
			golden := strings.TrimSuffix(file, ".s") + ".golden"
			got := describe(p, labels)
			if *update {
				if err := os.WriteFile(golden, []byte(strings.Join(got, "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			text, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (go test -update writes it)", err)
			}
			s.compare(t, got, strings.Split(string(text), "\n\n"))
		})
	}
}

// compare reports the functions that differ, each with its rule.
func (s *source) compare(t *testing.T, got, want []string) {
	byName := func(list []string) map[string]string {
		m := map[string]string{}
		for _, x := range list {
			name, _, _ := strings.Cut(x, ":")
			m[name] = strings.TrimSpace(x)
		}
		return m
	}
	g, w := byName(got), byName(want)
	for name := range w {
		if _, ok := g[name]; !ok {
			g[name] = "(not there)"
		}
	}
	for name, x := range g {
		if x != w[name] {
			t.Errorf("rule: %s\ngot:\n%s\nwant:\n%s", s.ruleOf(name), x, w[name])
		}
	}
}

// describe writes a program as text, one function in each string.
func describe(p *Program, l *labels) []string {
	var all []string
	for _, f := range p.Funcs {
		all = append(all, describeFunc(p, f, l))
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(a, b) })
	return all
}

func describeFunc(p *Program, f *Func, l *labels) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", l.name(f.Ranges[0].Lo))
	if f.Skip != "" {
		fmt.Fprintf(&b, " skipped: %s\n", l.names(f.Skip))
		return b.String()
	}
	fmt.Fprintf(&b, " %d instructions", f.Insns)
	for _, x := range []struct {
		on   bool
		what string
	}{{f.NoReturn, "never returns"}, {f.Leaves, "may not come back"}, {f.Leaf(), "leaf"}, {f.usesGS, "uses gs"}} {
		if x.on {
			b.WriteString(", " + x.what)
		}
	}
	b.WriteByte('\n')
	for _, r := range f.Ranges[1:] {
		fmt.Fprintf(&b, "  part %s\n", l.name(r.Lo))
	}
	for _, g := range p.Callees(f) {
		fmt.Fprintf(&b, "  reaches %s\n", l.name(g.Ranges[0].Lo))
	}
	describeRegions(&b, p, f, l)
	g := p.Graph(f, nil)
	for _, x := range g.Blocks {
		describeBlock(&b, g, x, l)
	}
	for _, e := range g.Edges {
		if e.From == nil && e.Kind != Entry {
			fmt.Fprintf(&b, "  START %s %s\n", kindNames[e.Kind], l.name(e.To.Start))
		}
	}
	if g.Torn != 0 {
		fmt.Fprintf(&b, "  torn at %s\n", l.name(g.Torn))
	}
	for _, lp := range g.Loops {
		fmt.Fprintf(&b, "  loop")
		for _, x := range lp.Blocks {
			fmt.Fprintf(&b, " %s", l.name(x.Start))
		}
		if lp.Parent != nil {
			fmt.Fprintf(&b, ", in %s", l.name(lp.Parent.Head.Start))
		}
		if lp.Inner {
			b.WriteString(", innermost")
		}
		if lp.MayWait() {
			b.WriteString(", may wait")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func describeRegions(b *strings.Builder, p *Program, f *Func, l *labels) {
	for _, r := range p.Regions {
		if r.Func != f {
			continue
		}
		kind := "region"
		if r.Idle {
			kind = "idle region"
		}
		fmt.Fprintf(b, "  %s from %s", kind, l.name(r.Enter))
		if r.Site != 0 {
			fmt.Fprintf(b, " (%s)", l.name(r.Site))
		}
		fmt.Fprintf(b, " by %s, to", [...]string{"nothing", "its first argument", "an operand"}[r.Object])
		for _, a := range r.Leaves {
			fmt.Fprintf(b, " %s", l.name(a))
		}
		b.WriteString("; works:")
		for _, a := range r.Works {
			fmt.Fprintf(b, " %s", l.name(a))
		}
		b.WriteByte('\n')
	}
}

func describeBlock(b *strings.Builder, g *Graph, x *Block, l *labels) {
	fmt.Fprintf(b, "  %s: %d", l.name(x.Start), len(x.Insns))
	for _, c := range x.Calls {
		fmt.Fprintf(b, ", calls %s", callee(&c, l))
		for _, w := range []struct {
			on   bool
			what string
		}{{c.NoReturn, "no return"}, {c.Leaves, "may not come back"}, {c.SetJmp, "returns twice"}} {
			if w.on {
				fmt.Fprintf(b, " (%s)", w.what)
			}
		}
	}
	for _, w := range []struct {
		on   bool
		what string
	}{{x.TableTarget, "case"}, {x.Pad, "pad"}, {x.Enters || x.Leaves, "gate"}, {x.Spin, "spins"}, {x.Loop != nil && x.Loop.Head == x, "head"}} {
		if w.on {
			b.WriteString(", " + w.what)
		}
	}
	if x.LiveIn != 0 {
		fmt.Fprintf(b, ", live %s", flagNames(x.LiveIn))
	}
	fmt.Fprintf(b, ", ×%.4g →", x.Freq)
	for _, e := range x.Succ {
		to := "out"
		if e.To != nil {
			to = l.name(e.To.Start)
		}
		fmt.Fprintf(b, " %s %s", kindNames[e.Kind], to)
		if e.Uncountable {
			b.WriteString("?")
		}
	}
	b.WriteByte('\n')
}

func callee(c *Call, l *labels) string {
	switch {
	case c.Callee != nil:
		return l.name(c.Callee.Ranges[0].Lo)
	case c.Import != "":
		return c.Import + "@"
	case c.Known():
		return "what nobody knows"
	}
	return "a pointer"
}

var kindNames = [...]string{Fall: "fall", Taken: "taken", Jump: "jump", Table: "table", Exit: "exit", Entry: "entry", Pad: "pad", Caught: "caught", Resumed: "resumed"}

func flagNames(s x86.Flags) string {
	var on []string
	for i, n := range []string{"CF", "PF", "AF", "ZF", "SF", "OF"} {
		if s&(1<<i) != 0 {
			on = append(on, n)
		}
	}
	return strings.Join(on, " ")
}
