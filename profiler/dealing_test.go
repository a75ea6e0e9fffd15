package profiler

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestOfTaskRuntimes: what is nobody's but a runtime's; not what stands in it and was
// the user's, or in another header.
func TestOfTaskRuntimes(t *testing.T) {
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
		{[]string{"/home/u/lib/taskflow/core/executor.hpp"}, true},
		{[]string{"/usr/share/cargo/registry/tokio-1.24.2/src/runtime/task/harness.rs"}, true},
		{[]string{"/usr/share/cargo/registry/threadpool-1.8.1/src/lib.rs"}, true},
	} {
		l := profile.Location{Frame: frame(c.files[0])}
		for _, f := range c.files[1:] {
			l.InlinedAt = append(l.InlinedAt, frame(f))
		}
		var last file
		if got := last.is(&l) && last.alone(&l); got != c.want {
			t.Errorf("%v: %v", c.files, got)
		}
	}
}

// TestReceived: where it is seen whether a channel of crossbeam's had anything, also where
// that is inlined, but not what is done with it, nor where something is sent.
func TestReceived(t *testing.T) {
	const channel = "/usr/share/cargo/registry/crossbeam-channel-0.5.6/src/channel.rs"
	result := profile.Frame{File: "/rustc/1/library/core/src/result.rs", Line: 1, Function: "core::result::Result<T,E>::map_err"}
	receives := profile.Frame{File: channel, Line: 1, Function: "crossbeam_channel::channel::Receiver<T>::recv"}
	sends := profile.Frame{File: channel, Line: 1, Function: "crossbeam_channel::channel::Sender<T>::send"}
	users := profile.Frame{File: "/home/u/main.rs", Line: 1, Function: "main::work"}
	for _, c := range []struct {
		frames []profile.Frame
		want   bool
	}{
		{[]profile.Frame{receives}, true},
		{[]profile.Frame{result, receives, users}, true},
		{[]profile.Frame{sends, users}, false},
		{[]profile.Frame{users, receives}, false},
		{[]profile.Frame{result, users}, false},
	} {
		var last file
		l := profile.Location{Frame: c.frames[0], InlinedAt: c.frames[1:]}
		if got := last.is(&l) && received(&l); got != c.want {
			t.Errorf("%v: %v", c.frames, got)
		}
	}
}

// TestOthersPools: in a function in which threads begin that others wrote, what no line of the
// program has to do with deals work out, and so does what never ran in it; in one of the
// program's own, or where the program's main function is beside it, nothing does.
func TestOthersPools(t *testing.T) {
	const others, own = "/home/u/third_party/pool/pool.h", "/home/u/work.cc"
	for _, c := range []struct {
		main, in, of string
		start        profile.Addr
		want         [3]bool
	}{
		{own, others, others, 0x100, [3]bool{true, true, true}},
		{own, others, own, 0x100, [3]bool{true, false, false}},
		{own, others, others, 0x200, [3]bool{}},
		{own, own, own, 0x100, [3]bool{}},
		{"/home/u/third_party/pool/test.cc", others, others, 0x100, [3]bool{}},
		{"_testmain.go", others, others, 0x100, [3]bool{}},
		{"", others, others, 0x100, [3]bool{}},
	} {
		p := &profile.Profile{
			Threads: []profile.Thread{{}, {ID: 1, Start: c.start}},
			Graph: profile.Graph{
				Functions: []profile.Function{{Name: "serve", Entry: 0x100, N: 3}, {Name: "main", Entry: 0x300, First: 3}},
				Blocks:    []profile.Block{{Last: 0x110, Count: 0}, {Last: 0x120, Count: 1}, {Last: 0x130, Count: 2}},
			},
			Locations: []profile.Location{
				{Address: 0x110, Frame: profile.Frame{File: c.in, Line: 1}},
				{Address: 0x120, Frame: profile.Frame{File: "/usr/include/c++/12/functional", Line: 1}, InlinedAt: []profile.Frame{{File: c.of, Line: 1}, {File: c.in, Line: 2}}},
				{Address: 0x300, Frame: profile.Frame{File: c.main, Line: 1}},
			},
		}
		dealOut(p)
		for i, want := range c.want {
			if got := p.Graph.Blocks[i].Deals; got != want {
				t.Errorf("%+v: block %d deals: %v", c, i, got)
			}
		}
	}
}
