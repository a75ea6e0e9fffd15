package cli

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"strings"
)

func checkCompiler() finding {
	cc, err := compiler()
	if err != nil {
		return finding{text: "C compiler: none (only the demo needs one)", mend: "Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc glibc-devel"}
	}
	return finding{ok: true, text: "C compiler: " + strings.Join(cc, " ")}
}

func checkValgrind() finding {
	path, err := exec.LookPath("valgrind")
	if err != nil {
		return finding{text: "valgrind: none (only for --backend valgrind, which is still to come)", mend: "Debian, Ubuntu: apt install valgrind"}
	}
	return finding{ok: true, text: "valgrind: " + path}
}

// checkProgram looks at what a program's file says about it.
func checkProgram(path string) []finding {
	f, err := elf.Open(path)
	if err != nil {
		return []finding{{text: fmt.Sprintf("%s: not an ELF program: %v", path, err), mend: "name the compiled program itself, not a script that starts it", needed: true}}
	}
	defer f.Close()
	native := finding{
		ok:     f.Machine == elf.EM_X86_64 && f.Class == elf.ELFCLASS64,
		text:   fmt.Sprintf("%s: a program for %s, %s-bit", path, strings.TrimPrefix(f.Machine.String(), "EM_"), strings.TrimPrefix(f.Class.String(), "ELFCLASS")),
		mend:   "build it for x86-64",
		needed: true,
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if f.Section(n) != nil {
				return true
			}
		}
		return false
	}
	lines := finding{
		ok:   has(".debug_line", ".zdebug_line"),
		text: path + ": has line information",
		mend: "build it with -g (the optimisation can stay), and do not strip it",
	}
	switch {
	case lines.ok:
	case has(".gnu_debuglink", ".note.gnu.build-id"):
		lines.text = path + ": has no line information of its own (a separate debug file is used where one is installed)"
	default:
		lines.text = path + ": has no line information: places are shown as function+offset"
	}
	return []finding{native, lines}
}
