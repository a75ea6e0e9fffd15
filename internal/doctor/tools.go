package doctor

import (
	"os/exec"

	"github.com/skewlens/skewlens/internal/examples"
)

func compiler() Finding {
	cc, err := examples.FindCompiler()
	if err != nil {
		return Finding{Text: "C compiler: none (only the demo needs one)", Fix: "Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc glibc-devel"}
	}
	return Finding{OK: true, Text: "C compiler: " + cc.String()}
}

func valgrind() Finding {
	path, err := exec.LookPath("valgrind")
	if err != nil {
		return Finding{Text: "valgrind: none (only for --backend valgrind, which is still to come)", Fix: "Debian, Ubuntu: apt install valgrind"}
	}
	return Finding{OK: true, Text: "valgrind: " + path}
}
