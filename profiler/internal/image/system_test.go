package image

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestOpenAll reads every program and library under the directories of
// SKEWLENS_IMAGE_ALL, separated by colons, and shows what could not be read.
// Run by hand:
//
//	SKEWLENS_IMAGE_ALL=/usr go test -run OpenAll -v ./profiler/internal/image
func TestOpenAll(t *testing.T) {
	dirs := os.Getenv("SKEWLENS_IMAGE_ALL")
	if dirs == "" {
		t.Skip("set SKEWLENS_IMAGE_ALL to the directories to search")
	}
	files, programs, functions, fdes, pads := 0, 0, 0, 0, 0
	for _, dir := range filepath.SplitList(dirs) {
		filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil
			}
			f, err := os.Open(path)
			if err != nil {
				return nil
			}
			defer f.Close()
			var magic [4]byte
			if f.ReadAt(magic[:], 0); string(magic[:]) != "\x7fELF" {
				return nil
			}
			info, err := f.Stat()
			if err != nil {
				return nil
			}
			im, library, err := read(path, f, info.Size())
			if err != nil {
				if e := err.(*Error); e.Reason == Malformed || e.Reason == Truncated {
					t.Log(err)
				}
				return nil
			}
			files++
			if !library {
				programs++
			}
			functions += len(im.Funcs)
			fdes += len(im.FDEs)
			pads += len(im.Pads)
			for _, d := range im.Doubts {
				t.Errorf("%s: %s", path, d)
			}
			return nil
		})
	}
	t.Logf("%d files, %d of them programs, %d functions, %d FDEs, %d landing pads", files, programs, functions, fdes, pads)
}

// BenchmarkOpen reads the program of SKEWLENS_IMAGE_BENCH, or the test itself.
func BenchmarkOpen(b *testing.B) {
	path := os.Getenv("SKEWLENS_IMAGE_BENCH")
	if path == "" {
		path = "/proc/self/exe"
	}
	for b.Loop() {
		if _, err := Open(path); err != nil {
			b.Fatal(err)
		}
	}
}
