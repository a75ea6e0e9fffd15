package faults

import (
	"fmt"
	"strconv"
	"strings"
)

// online lists the processors that run: a thread may be on any, wherever skewlens is.
func online(read func(string) ([]byte, error)) (cpus []int, err error) {
	const file = "/sys/devices/system/cpu/online"
	b, err := read(file)
	if err != nil {
		return nil, err
	}
	for piece := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		from, to, several := strings.Cut(piece, "-")
		if !several {
			to = from
		}
		lo, err1 := strconv.Atoi(from)
		hi, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || lo < 0 || hi < lo || hi > 1<<16 {
			return nil, fmt.Errorf("%s says %q", file, piece)
		}
		for cpu := lo; cpu <= hi; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
