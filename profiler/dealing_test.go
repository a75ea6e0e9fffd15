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
		files         []string
		want, decides bool
	}{
		{[]string{"/usr/include/oneapi/tbb/parallel_for.h"}, true, true},
		{[]string{"/usr/include/c++/12/bits/atomic_base.h", "/usr/include/oneapi/tbb/partitioner.h"}, true, true},
		{[]string{"/usr/share/cargo/registry/rayon-1.6.1/src/iter/plumbing/mod.rs"}, true, true},
		{[]string{"/home/u/.cargo/registry/src/index-1/rayon-core-1.12.1/src/join/mod.rs"}, true, true},
		{[]string{"/usr/include/c++/12/pstl/parallel_backend_tbb.h"}, true, true},
		{[]string{"/home/u/solver.cc", "/usr/include/oneapi/tbb/parallel_for.h"}, false, false},
		{[]string{"/usr/include/oneapi/tbb/parallel_for.h", "/home/u/solver.cc"}, false, true},
		{[]string{"/usr/include/oneapi/tbb/concurrent_hash_map.h", "/home/u/solver.cc"}, false, false},
		{[]string{"/usr/include/c++/12/bits/stl_algo.h"}, false, false},
		{[]string{"/home/u/rayon/main.rs"}, false, false},
		{[]string{"/home/u/lib/taskflow/core/executor.hpp"}, true, true},
		{[]string{"/usr/share/cargo/registry/tokio-1.24.2/src/runtime/task/harness.rs"}, true, true},
		{[]string{"/usr/share/cargo/registry/threadpool-1.8.1/src/lib.rs"}, true, true},
		{[]string{"/usr/share/cargo/registry/async-executor-1.5.0/src/lib.rs"}, true, true},
	} {
		l := profile.Location{Frame: frame(c.files[0])}
		for _, f := range c.files[1:] {
			l.InlinedAt = append(l.InlinedAt, frame(f))
		}
		var last file
		if got := last.is(&l) && last.alone(&l); got != c.want {
			t.Errorf("%v: %v", c.files, got)
		}
		if got := ofRuntime(&l); got != c.decides {
			t.Errorf("%v: the runtime decides: %v", c.files, got)
		}
	}
}

// TestWhoReceives: who calls a channel's function that was not inlined sees what there was, in
// its block or behind that, if the call ends it; who calls another one does not.
func TestWhoReceives(t *testing.T) {
	const channel = "/home/u/.cargo/registry/src/index-1/flume-0.10.14/src/lib.rs"
	p := &profile.Profile{
		Graph: profile.Graph{
			Functions: []profile.Function{{Name: "main", Entry: 0x100, N: 5}, {Name: "recv", Entry: 0x200, First: 5, N: 1}, {Name: "send", Entry: 0x300, First: 6, N: 1}},
			Blocks: []profile.Block{{Last: 0x110}, {Last: 0x120, Count: 1}, {Last: 0x130, Count: 2}, {Last: 0x140, Count: 3}, {Last: 0x150, Count: 4},
				{Function: 1, Last: 0x210, Count: 5}, {Function: 2, Last: 0x310, Count: 6}},
			Edges: []profile.Edge{{From: 0, To: 1, Kind: profile.Fall}, {From: 0, To: 5, Kind: profile.Call, Site: 0x110}, // ends its block
				{From: 2, To: 3, Kind: profile.Fall}, {From: 2, To: 5, Kind: profile.Call, Site: 0x12c}, {From: 4, To: 6, Kind: profile.Call, Site: 0x150}},
		},
	}
	for _, a := range []profile.Addr{0x110, 0x120, 0x130, 0x140, 0x150} {
		p.Locations = append(p.Locations, profile.Location{Address: a, Frame: profile.Frame{File: "/home/u/main.rs", Line: 1, Function: "main"}})
	}
	p.Locations = append(p.Locations, profile.Location{Address: 0x210, Frame: profile.Frame{File: channel, Line: 1, Function: "flume::Receiver<T>::recv"}},
		profile.Location{Address: 0x310, Frame: profile.Frame{File: channel, Line: 2, Function: "flume::Sender<T>::send"}})
	dealOut(p)
	for i, want := range []bool{true, true, true, false, false, true, false} {
		if got := p.Graph.Blocks[i].Deals; got != want {
			t.Errorf("block %d deals: %v", i, got)
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
