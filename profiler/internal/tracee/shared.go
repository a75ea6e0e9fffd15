package tracee

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Shared is memory that the target and this process both have mapped. It is a
// memfd made by the target, so that it has no name anywhere and is gone with
// its last user.
type Shared struct {
	Addr uint64 // in the target
	file *os.File
}

const hugePage = 2 << 20

// MapCode maps an executable, writable-by-us-alone region at exactly addr.
func (p *Process) MapCode(addr, size uint64) error {
	got, err := p.Syscall(unix.SYS_MMAP, addr, size, unix.PROT_READ|unix.PROT_EXEC,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE, ^uint64(0), 0)
	if err == nil && got != addr {
		err = fmt.Errorf("mapped at %#x, not at %#x", got, addr)
	}
	if err == nil && size >= hugePage { // to have a page at a time takes longer than to write it
		_, _ = p.Syscall(unix.SYS_MADVISE, addr, size, unix.MADV_HUGEPAGE)
	}
	return err
}

// MapShared maps size bytes of shared memory into the stopped target. They
// take memory only where they are touched.
func (p *Process) MapShared(size uint64) (*Shared, error) {
	name, err := p.Auxv(auxPlatform) // any string will do
	if err != nil {
		return nil, err
	}
	fd, err := p.Syscall(unix.SYS_MEMFD_CREATE, name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	s := &Shared{}
	if s.file, err = os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", p.Pid, fd), os.O_RDWR, 0); err != nil {
		return nil, err
	}
	if err := s.Resize(size); err != nil {
		s.Close()
		return nil, err
	}
	s.Addr, err = p.Syscall(unix.SYS_MMAP, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE, fd, 0)
	if err == nil {
		_, err = p.Syscall(unix.SYS_CLOSE, fd)
	} else {
		err = fmt.Errorf("map %d MB for counters (ulimit -v?): %w", size>>20, err)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Large asks for large pages where the first bytes lie in the stopped target, and in a View of
// all: they are used all over, and a page at a time would take longer to have than to use. Who
// touches a page first decides which it is.
func (s *Shared) Large(p *Process, view []byte, size uint64) {
	_, _ = p.Syscall(unix.SYS_MADVISE, s.Addr, size&^4095, unix.MADV_HUGEPAGE)
	_ = unix.Madvise(view[:size&^4095], unix.MADV_HUGEPAGE)
}

// Resize makes room for so many bytes, which the target has yet to map. A limit on the
// size of files is for those that the program writes, which this is none of.
func (s *Shared) Resize(size uint64) error {
	defer unlimited(size)()
	err := s.file.Truncate(int64(size))
	if errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("the counters need a file of %d kB, in memory: raise the limit of files, ulimit -f, or set the soft one alone, ulimit -S -f", size>>10)
	}
	if err != nil {
		return fmt.Errorf("reserve %d MB for counters: %w", size>>20, err)
	}
	return nil
}

// unlimited lets this process make a file of so many bytes, if it may, until what it
// returns is called: nothing else here grows meanwhile.
func unlimited(size uint64) (limited func()) {
	var was unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &was) != nil || was.Cur >= size {
		return func() {}
	}
	for _, most := range []uint64{max(size, was.Max), was.Max} { // the first is for who may raise it beyond
		if unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: most}) == nil {
			break
		}
	}
	return func() { _ = unix.Setrlimit(unix.RLIMIT_FSIZE, &was) }
}

// View maps a part of the memory here; Unmap takes it back.
func (s *Shared) View(offset, size uint64) ([]byte, error) {
	return unix.Mmap(int(s.file.Fd()), int64(offset), int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// Unmap ends a View.
func Unmap(view []byte) error { return unix.Munmap(view) }

// Wipe gives a part's memory back; it reads as zero afterwards.
func (s *Shared) Wipe(offset, size uint64) error {
	return unix.Fallocate(int(s.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(offset), int64(size))
}

// Close lets go of the memory here.
func (s *Shared) Close() { s.file.Close() }
