package doctor

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
)

// readFile is os.ReadFile, or a machine of a test.
type readFile func(name string) ([]byte, error)

func system(read readFile) Finding {
	release := "unknown"
	if b, err := read("/proc/sys/kernel/osrelease"); err == nil {
		release = strings.TrimSpace(string(b))
	}
	return Finding{
		OK:     runtime.GOOS == "linux" && runtime.GOARCH == "amd64",
		Text:   fmt.Sprintf("system: %s on %s, kernel %s, %d cores", runtime.GOOS, runtime.GOARCH, release, runtime.NumCPU()),
		Fix:    "the native backend is for Linux on x86-64",
		Needed: true,
	}
}

// cpuinfo is the first processor of /proc/cpuinfo.
func cpuinfo(read readFile) map[string]string {
	info := map[string]string{}
	text, _ := read("/proc/cpuinfo") // not there: nothing is known
	first, _, _ := strings.Cut(string(text), "\n\n")
	for line := range strings.Lines(first) {
		if k, v, ok := strings.Cut(line, ":"); ok {
			info[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return info
}

func cpu(read readFile) Finding {
	model := cpuinfo(read)["model name"]
	if model == "" {
		model = "unknown"
	}
	return Finding{OK: true, Text: "CPU: " + model}
}

func timeStampCounter(read readFile) Finding {
	flags := " " + cpuinfo(read)["flags"] + " "
	return Finding{
		OK:   strings.Contains(flags, " constant_tsc ") && strings.Contains(flags, " nonstop_tsc "),
		Text: "time stamp counter: constant and never stops",
		Fix:  "waiting times may be wrong here; executed instructions, and so the imbalance, are exact all the same",
	}
}

// hwcap2FSGSBase in AT_HWCAP2: the kernel lets programs set GS themselves.
const (
	atHWCap2       = 26
	hwcap2FSGSBase = 1 << 1
)

func fsgsbase(read readFile) Finding {
	f := Finding{
		Text: "FSGSBASE: programs may set GS (needed for Go programs only)",
		Fix:  "use Linux 5.9 or newer on a CPU with fsgsbase, without nofsgsbase on the kernel's command line",
	}
	aux, err := read("/proc/self/auxv")
	if err != nil {
		f.Text += ": " + err.Error()
		return f
	}
	for ; len(aux) >= 16; aux = aux[16:] {
		if binary.NativeEndian.Uint64(aux) == atHWCap2 {
			f.OK = binary.NativeEndian.Uint64(aux[8:])&hwcap2FSGSBase != 0
		}
	}
	return f
}
