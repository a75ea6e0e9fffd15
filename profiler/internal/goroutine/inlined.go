package goroutine

import (
	"debug/dwarf"
	"fmt"
)

// The compiler puts functions of the runtime's into others where a profile that it was
// given (-pgo, default.pgo) says that they are called often: the detours on their first
// instructions are not come to from there.

// walks are those by which the runtime walks up stacks.
var walks = []string{"runtime.(*unwinder).initAt", "runtime.(*unwinder).next", "runtime.fpTracebackPartialExpand", "runtime.fpunwindExpand"}

// needed are those without which goroutines are not told apart.
var needed = []string{"runtime.gdestroy", "runtime.recovery", "runtime.goschedImpl", "runtime.preemptPark"}

// readInlined notes whether return addresses in copies would be found there, and fails
// where more is missing.
func (l *Layout) readInlined(data *dwarf.Data, info []byte) error {
	for _, name := range walks {
		if isInlined(data, info, name) {
			l.Unled = 1
		}
	}
	for _, name := range needed {
		if isInlined(data, info, name) {
			return fmt.Errorf("has %s inlined, as a profile makes the compiler do; build it with -pgo=off", name)
		}
	}
	return nil
}

// isInlined reports whether a function's code is in others: it is described apart
// from it then.
func isInlined(data *dwarf.Data, info []byte, name string) bool {
	for at := range named(info, name) {
		if e := entryAt(data, at, dwarf.TagSubprogram, name); e != nil && e.Val(dwarf.AttrInline) != nil {
			return true
		}
	}
	return false
}
