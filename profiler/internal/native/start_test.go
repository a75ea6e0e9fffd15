package native

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// BenchmarkStart is from nothing to the first instruction of the program that
// SKEWLENS_BIG names (else bash), analysed anew and as kept from the run before.
func BenchmarkStart(b *testing.B) {
	path := os.Getenv("SKEWLENS_BIG")
	if path == "" {
		path = "/bin/bash"
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	start := func(dir string) *analysis {
		runtime.LockOSThread() // ptrace belongs to a thread
		defer runtime.UnlockOSThread()
		im, err := image.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		a, err := analyse(im, options{}, dir)
		if err != nil {
			b.Fatal(err)
		}
		p, err := tracee.Start(tracee.Command{Path: path, Args: []string{path}, Files: [3]uintptr{null.Fd(), null.Fd(), null.Fd()}})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		defer p.Kill()
		in, err := inject(p, source{analysis: a}, backend.Job{})
		if err != nil {
			b.Fatal(err)
		}
		in.memory.Close()
		return a
	}
	cpu := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	b.Run("anew", func(b *testing.B) {
		b.ReportAllocs()
		from := cpu()
		for b.Loop() {
			start("")
		}
		b.ReportMetric(float64((cpu()-from).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
	dir := b.TempDir()
	a := start(dir)
	a.save()
	if entries, _ := os.ReadDir(dir); len(entries) == 0 {
		b.Skipf("%s is so small that nothing is kept", path)
	}
	b.Run("kept", func(b *testing.B) {
		from := cpu()
		for b.Loop() {
			if !start(dir).restored {
				b.Fatal("was not kept")
			}
		}
		b.ReportMetric(float64((cpu()-from).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
}
