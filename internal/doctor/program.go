package doctor

import (
	"debug/elf"
	"fmt"
	"strings"
)

// Program looks at what a program's file says about it.
func Program(path string) []Finding {
	f, err := elf.Open(path)
	if err != nil {
		return []Finding{{Text: fmt.Sprintf("%s: not an ELF program: %v", path, err), Fix: "name the compiled program itself, not a script that starts it", Needed: true}}
	}
	defer f.Close()
	native := Finding{
		OK:     f.Machine == elf.EM_X86_64 && f.Class == elf.ELFCLASS64,
		Text:   fmt.Sprintf("%s: a program for %s, %s-bit", path, strings.TrimPrefix(f.Machine.String(), "EM_"), strings.TrimPrefix(f.Class.String(), "ELFCLASS")),
		Fix:    "build it for x86-64",
		Needed: true,
	}
	return []Finding{native, lineInformation(path, f)}
}

// lineInformation: does the program's file say which line its code is from?
func lineInformation(path string, f *elf.File) Finding {
	has := func(a, b string) bool { return f.Section(a) != nil || f.Section(b) != nil }
	lines := Finding{
		OK:   has(".debug_line", ".zdebug_line"),
		Text: path + ": has line information",
		Fix:  "build it with -g (the optimisation can stay), and do not strip it",
	}
	switch {
	case lines.OK:
	case has(".gnu_debuglink", ".note.gnu.build-id"):
		lines.Text = path + ": has no line information of its own (a separate debug file is used where one is installed)"
	default:
		lines.Text = path + ": has no line information: places are shown as function+offset"
	}
	return lines
}
