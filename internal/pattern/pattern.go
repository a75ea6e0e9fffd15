// Package pattern compiles regular expressions when they are first used.
//
//	var name = New(`…`) ──▷ nothing, at the start of each process of ours
//	name()              ──▷ compiled, once
//
// Those of the language server alone would take a process that profiles longer than
// it takes others to start.
package pattern

import (
	"regexp"
	"sync"
)

// New returns what compiles an expression when it is first called.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
