// Package house tests the house rules: how this repository is arranged,
// whatever it does.
//
//	all Go files ─┬─▶ imports_test.go     who may import whom, and what
//	              ├─▶ functions_test.go   how long and how tangled a function may be
//	              └─▶ folders_test.go     what each folder and each file must have
//	go test -cover ─▶ ../testsum, coverage.txt   how much of a package its own tests reach
//	tools/go.mod   the tools for this and for ./test, at their versions
//
// A function that must be longer, or more tangled, than the rules allow says why
// in its comment, in a sentence that begins "Long because" or "Complex because".
package house
