package profiler

import (
	"fmt"
	"os"

	"github.com/skewlens/skewlens/profiler/internal/image"
)

// openProgram reads a program, or says why it cannot be profiled.
func openProgram(path string) (*image.Image, *Lines, error) {
	im, err := image.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 && os.Geteuid() != 0 {
		return nil, nil, fmt.Errorf("%s: is setuid, and would run without its rights under a profiler; run skewlens as root", path)
	}
	l, err := OpenLines(path)
	return im, l, err
}
