package native

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// TestEventsCounted: what cannot be counted is refused before anything runs.
func TestEventsCounted(t *testing.T) {
	for _, can := range [][]backend.Events{{backend.Edges}, {backend.Edges, backend.Cache}} {
		if err := (Backend{}).Check(can); err != nil {
			t.Error(err)
		}
	}
	err := Backend{}.Check([]backend.Events{backend.Edges, "cycles"})
	if err == nil || !strings.Contains(err.Error(), "cannot count cycles") || !strings.Contains(err.Error(), "--events edges") {
		t.Errorf("cycles: %v", err)
	}
}

// TestHandlersOfAllStops: no kind of stop is left without one.
func TestHandlersOfAllStops(t *testing.T) {
	if len(handlers) != int(tracee.Other)+1 {
		t.Errorf("%d handlers of %d kinds", len(handlers), tracee.Other+1)
	}
	for kind, h := range handlers {
		if h == nil {
			t.Errorf("stops of kind %d have no handler", kind)
		}
	}
}

// TestRefused: what this backend cannot profile another one may.
func TestRefused(t *testing.T) {
	golang := func(string) (*image.Image, backend.Lines, error) { return &image.Image{HasGo: true}, nil, nil }
	_, err := read(backend.Job{Open: golang}, "prog")
	var u *backend.Unavailable
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "prog is a Go program") {
		t.Errorf("a Go program: %v", err)
	}
	if _, err := read(backend.Job{Probe: "hold-some", Open: golang}, "prog"); err == nil || !strings.Contains(err.Error(), "hold-some") || errors.As(err, &u) {
		t.Errorf("an option for tests: %v", err)
	}
	broken := errors.New("not read")
	if _, err := read(backend.Job{Open: func(string) (*image.Image, backend.Lines, error) { return nil, nil, broken }}, "prog"); err != broken {
		t.Errorf("a program that cannot be read: %v", err)
	}
}

// TestSlots: a slot that was given back is taken before a new one, and 0 never.
func TestSlots(t *testing.T) {
	s := slots{next: 1}
	var got []int
	for range 3 {
		got = append(got, s.take())
	}
	s.give(2)
	s.give(1)
	for range 3 {
		got = append(got, s.take())
	}
	if want := []int{1, 2, 3, 1, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("took %v, want %v", got, want)
	}
}

func TestPatternsOfLibraries(t *testing.T) {
	const file = "/usr/lib/libfft.so.3.1"
	for pattern, want := range map[string]bool{file: true, "libfft.so.3.1": true, "libfft": true, "libfft.so": true, "libf*": true, "lib": false, "libfft.so.4": false, "[": false} {
		if matches(pattern, file) != want {
			t.Errorf("%s matches %s: %v", pattern, file, !want)
		}
	}
	for file, want := range map[string]bool{"/lib/x86_64-linux-gnu/libc.so.6": true, "/lib64/ld-linux-x86-64.so.2": true, "/lib/libpthread.so.0": true,
		"/lib/libcrypto.so.3": false, "/home/ld/libm.so.6": false} {
		if ofTheSystem(file) != want {
			t.Errorf("%s is a part of the system: %v", file, !want)
		}
	}
}

// TestRuntimes: which libraries are the languages' own, and which only begin like these.
func TestRuntimes(t *testing.T) {
	for name, want := range map[string]bool{"libomp.so.5": true, "libomp5.so": true, "libomp-14.so.5": true, "libompd.so": true, "libgomp.so.1": true, "libc++abi.so.1": true,
		"libnss_files.so.2": true, "libtbbmalloc.so.2": true, "libstdc++.so.6": true, "libgnarl-12.so": true, "libgnat-12.so": true, "libgnatcoll.so.2": false, "libunwind-x86_64.so.8": true,
		"libompsolver.so": false, "libgompertz.so": false, "libanlage.so": false, "libsweep.so": false, "libcrypto.so": false} {
		if isRuntime("/usr/lib/"+name) != want {
			t.Errorf("%s is one of the languages': %v", name, !want)
		}
	}
}

// TestCutWaits: it is said when many waits were interrupted.
func TestCutWaits(t *testing.T) {
	for _, c := range []struct {
		cut, known int
		said       bool
	}{{0, 0, false}, {1, 9, false}, {1, 8, true}} {
		s := &session{signals: signals{cut: c.cut}, threads: &threads{waits: &waitReader{known: c.known}}}
		if w := s.cutWaits(); (len(w) > 0) != c.said {
			t.Errorf("%d of %d: %v", c.cut, c.cut+c.known, w)
		}
	}
}

// TestWhatCrashes: signals that a program ends itself by, and no others.
func TestWhatCrashes(t *testing.T) {
	for sig, want := range map[syscall.Signal]bool{syscall.SIGSEGV: true, syscall.SIGABRT: true, syscall.SIGTERM: false, syscall.SIGUSR1: false} {
		if got := crashed(sig); got != want {
			t.Errorf("%v: crashed %v", sig, got)
		}
	}
}

// TestSays: a byte that differs is seen wherever it is, and memory that is not there
// is no answer.
func TestSays(t *testing.T) {
	const from = 0x1000
	for _, n := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000} {
		file := bytes.Repeat([]byte{0x90, 0xc3, 1}, n/3+1)[:n]
		memory := bytes.Clone(file)
		read := func(b []byte, addr uint64) error {
			if copy(b, memory[min(addr-from, uint64(len(memory))):]) < len(b) {
				return errors.New("there is no memory")
			}
			return nil
		}
		if same, err := says(read, file, from); !same || err != nil {
			t.Errorf("%d bytes: %v, %v", n, same, err)
		}
		for _, at := range []int{0, 64<<10 - 1, 64 << 10, n - 1} {
			if at < 0 || at >= n {
				continue
			}
			memory[at]++
			if same, err := says(read, file, from); same || err != nil {
				t.Errorf("%d bytes, another one at %d: %v, %v", n, at, same, err)
			}
			memory[at]--
		}
		if n > 0 {
			memory = memory[:n-1]
			if _, err := says(read, file, from); err == nil {
				t.Errorf("%d bytes, one less in memory: no error", n)
			}
		}
	}
}
