package garbage

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestHuge: what is allocated from then on lies in huge pages.
func TestHuge(t *testing.T) {
	if mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || strings.Contains(string(mode), "[never]") {
		t.Skip("there are no huge pages here")
	}
	defer Pace(100)() // else the runtime may have used the room by then
	Huge()
	all := make([][]byte, 64)
	for i := range all {
		all[i] = make([]byte, 256<<10)
		for k := range all[i] {
			all[i][k] = 1
		}
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	if !regexp.MustCompile(`(?m)^AnonHugePages:\s+[1-9]`).Match(smaps) {
		t.Error("no huge page is in use")
	}
	if len(all[0]) == 0 {
		t.Error("the compiler knows that nothing is used")
	}
}
