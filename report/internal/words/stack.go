package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report/scaling"
)

// componentWords are the components of a speedup stack, from the bottom to the top.
var componentWords = []struct{ name, says string }{
	{"speedup", "speedup"},
	{"work", "work"},
	{"overhead", "overhead of being parallel"},
	{"inflation", "work that takes longer"},
	{"inflation-threads", "more work with more threads"},
	{"inflation-beside", "work that takes longer beside others"},
	{"inflation-lines", "lines that others take away"},
	{"inflation-shared", "less room in the last cache"},
	{"inflation-rest", "more than simulated caches explain"},
	{"idle", "idle"},
	{"idle-none", "idle: no thread for the core"},
	{"idle-imbalance", "imbalance (less to do than the slowest thread)"},
	{"idle-sync", "synchronisation (the slowest thread waits, too)"},
	{"idle-own", "sleep and files"},
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
	var stacks [][]scaling.Component
	for i := range r.Points {
		stacks = append(stacks, r.Points[i].Stack)
	}
	return NamesIn(stacks)
}

// NamesIn are the components that some of the stacks have, likewise.
func NamesIn(stacks [][]scaling.Component) (names, says []string) {
	for _, w := range componentWords {
		if slices.ContainsFunc(stacks, func(s []scaling.Component) bool { return HeightOf(s, w.name) > 0 }) {
			names, says = append(names, w.name), append(says, w.says)
		}
	}
	return names, says
}

// HeightOf is how high a component of a stack is: 0 where there is none, or less than none.
func HeightOf(stack []scaling.Component, name string) (height float64) {
	for _, c := range stack {
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
			if h := HeightOf(p.Stack, w.name); h >= 0.005*float64(p.P) && strings.HasPrefix(w.name, "idle-") {
				list = append(list, fmt.Sprintf("%s %s", strings.TrimPrefix(w.says, "idle: "), units.Digits(h)))
			}
		}
		if len(list) == 0 {
			return ""
		}
		return fmt.Sprintf("what idle time costs of a speedup of %d, about, divided as threads waited in recorded runs: %s", p.P, strings.Join(list, ", "))
	}
	return ""
}
