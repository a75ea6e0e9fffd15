// Package kept keeps files that make the next run faster, and no run different.
//
//	what took long ─▶ Write ─▶ a file of the user's own, whole or not there
//	                             │  read by nobody else, checksum first
//	what it is made of ─▶ name ──┴─▶ Read ─▶ its bytes, as long as the process lives
//
// The name of a file says all that its contents depend on, Stamp of skewlens itself
// among it: so a file is never out of date, and another version finds none of this one's.
// A file may become code of a running program: it is taken only if nobody but the
// user can have written it, and if its checksum says that it is whole.
package kept

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/internal/atomicfile"
	"github.com/skewlens/skewlens/profiler/internal/pack"
)

const (
	most       = 1 << 30        // bytes of all files of a directory; those not used for longest go
	swept      = ".swept"       // the file whose time says when they last did
	sweptEach  = time.Hour      // since to look at thousands of files takes as long as a short run
	useIsNoted = 24 * time.Hour // as often
)

// Stamp is another one when a file changes; "": it cannot be told.
func Stamp(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return StampOf(info)
}

// Name is that of a file of a directory, by its kind and what it is made of, skewlens
// itself among it; "" where there is no directory, or a part of that cannot be told ("").
func Name(dir, kind string, of ...string) string {
	of = append(of, Stamp("/proc/self/exe"))
	if dir == "" || slices.Contains(of, "") {
		return ""
	}
	h := sha256.Sum256([]byte(strings.Join(of, "\n")))
	return filepath.Join(dir, fmt.Sprintf("%s-%x", kind, h[:12]))
}

// StampOf is Stamp of a file by what is known of it.
func StampOf(info os.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintln(st.Dev, st.Ino, st.Size, st.Mtim, st.Ctim)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Used notes that a file is.
func Used(name string) {
	now := time.Now()
	if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > useIsNoted {
		_ = os.Chtimes(name, now, now)
	}
}

// mapped are files that Read has read, as long as this process lives: what is made of
// them points into them. They are mapped because to have room for megabytes, and to copy
// them there, takes longer than all that is done with them. Nobody writes them where they
// lie: who changes one puts another in its place.
var mapped struct {
	sync.Mutex
	files map[string][]byte // by stamp
}

// Read is what a file says, if it is the user's own and whole.
func Read(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() || info.Mode() != 0o600 {
		return nil, fmt.Errorf("%s may be somebody else's", name)
	}
	mapped.Lock()
	defer mapped.Unlock()
	key := StampOf(info)
	if b := mapped.files[key]; b != nil {
		return b, nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(st.Size), syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli) {
		_ = syscall.Munmap(b)
		return nil, fmt.Errorf("%s is broken", name)
	}
	if mapped.files == nil {
		mapped.files = map[string][]byte{}
	}
	mapped.files[key] = b[4:]
	return b[4:], nil
}

// Write writes a file. That it cannot is no reason to complain: the next
// run takes as long as this one.
func Write(name string, fill func(*pack.Writer)) {
	w := &pack.Writer{B: make([]byte, 4)}
	fill(w)
	binary.LittleEndian.PutUint32(w.B, crc32.Checksum(w.B[4:], castagnoli))
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return
	}
	_ = atomicfile.WritePrivate(name, func(f io.Writer) error { _, err := f.Write(w.B); return err })
	mark := filepath.Join(dir, swept)
	if info, err := os.Stat(mark); err == nil && time.Since(info.ModTime()).Abs() < sweptEach {
		return
	}
	_ = atomicfile.WritePrivate(mark, func(io.Writer) error { return nil })
	sweep(dir)
}

// sweep removes analyses that were not used for longest, until the rest is
// small enough.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	total := int64(0)
	for _, x := range files {
		left := strings.HasPrefix(x.Name(), atomicfile.Temporary) && time.Since(x.ModTime()) > time.Hour // by a run that was killed
		if total += x.Size(); left || total > most {
			os.Remove(filepath.Join(dir, x.Name()))
		}
	}
}
