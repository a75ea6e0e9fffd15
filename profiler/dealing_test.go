package profiler

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestOfTaskRuntimes: what is nobody's but a runtime's; not what stands in it and was
// the user's, or in another header.
func TestOfTaskRuntimes(t *testing.T) {
	var files taskFiles
	frame := func(file string) profile.Frame { return profile.Frame{File: file, Line: 1} }
	for _, c := range []struct {
		files []string
		want  bool
	}{
		{[]string{"/usr/include/oneapi/tbb/parallel_for.h"}, true},
		{[]string{"/usr/include/c++/12/bits/atomic_base.h", "/usr/include/oneapi/tbb/partitioner.h"}, true},
		{[]string{"/usr/share/cargo/registry/rayon-1.6.1/src/iter/plumbing/mod.rs"}, true},
		{[]string{"/home/u/.cargo/registry/src/index-1/rayon-core-1.12.1/src/join/mod.rs"}, true},
		{[]string{"/usr/include/c++/12/pstl/parallel_backend_tbb.h"}, true},
		{[]string{"/home/u/solver.cc", "/usr/include/oneapi/tbb/parallel_for.h"}, false},
		{[]string{"/usr/include/oneapi/tbb/parallel_for.h", "/home/u/solver.cc"}, false},
		{[]string{"/usr/include/c++/12/bits/stl_algo.h"}, false},
		{[]string{"/home/u/rayon/main.rs"}, false},
	} {
		l := profile.Location{Frame: frame(c.files[0])}
		for _, f := range c.files[1:] {
			l.InlinedAt = append(l.InlinedAt, frame(f))
		}
		if got := files.alone(&l); got != c.want {
			t.Errorf("%v: %v", c.files, got)
		}
	}
}
