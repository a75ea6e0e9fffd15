package words

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report/scaling"
)

// componentWords are the components of a speedup stack, from the bottom to the top.
var componentWords = []struct{ name, says string }{
	{"speedup", "speedup"},
	{"overhead", "overhead of being parallel"},
	{"inflation", "work that takes longer"},
	{"idle", "idle"},
	{"idle-none", "idle: no thread for the core"},
	{"idle-join", "idle: threads' ends"},
	{"idle-barrier", "idle: meetings"},
	{"idle-condition", "idle: conditions"},
	{"idle-lock", "idle: locks"},
	{"idle-spin", "idle: spinning"},
	{"idle-sleep", "idle: asleep"},
	{"idle-io", "idle: input and output"},
	{"idle-fault", "idle: memory"},
}

// StackNames are the components that some point's stack has, from the bottom to the
// top, by name and in words.
func StackNames(r *scaling.Report) (names, says []string) {
	for _, w := range componentWords {
		for i := range r.Points {
			if StackOf(&r.Points[i], w.name) != 0 {
				names, says = append(names, w.name), append(says, w.says)
				break
			}
		}
	}
	return names, says
}

// StackOf is how high a component is at a point: 0 where there is none, or less than none.
func StackOf(p *scaling.Point, name string) (height float64) {
	for _, c := range p.Stack {
		if c.Name == name {
			height += max(0, c.Speedup)
		}
	}
	return height
}

// Stack says what the speedup of the last point with a stack is short of; "" where
// its idle time is not divided: then the notes have said it.
func Stack(r *scaling.Report) string {
	for i := len(r.Points) - 1; i > 0; i-- {
		p := &r.Points[i]
		if len(p.Stack) == 0 {
			continue
		}
		var list []string
		for _, w := range componentWords {
			if h := StackOf(p, w.name); h >= 0.005*float64(p.P) && strings.HasPrefix(w.name, "idle-") {
				list = append(list, fmt.Sprintf("%s %s", strings.TrimPrefix(w.says, "idle: "), units.Digits(h)))
			}
		}
		if len(list) == 0 {
			return ""
		}
		return fmt.Sprintf("what idle time costs of a speedup of %d, about, divided as threads waited in a profiled run: %s", p.P, strings.Join(list, ", "))
	}
	return ""
}
