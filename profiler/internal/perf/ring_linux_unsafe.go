package perf

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bytes of a thread's ring: as many of these as it may have, the most where there are few
// threads. Who is not root may have little memory that stays in place.
var ringSizes = []int{256 << 10, 64 << 10, 16 << 10}

const (
	fewThreads = 64
	wakeAt     = 4 << 10 // bytes from which on it is read
)

// ring is where the kernel writes a thread's samples.
type ring struct {
	memory []byte
	head   *unix.PerfEventMmapPage
	data   []byte
	piece  []byte // a record that does not lie in one piece
}

func mapRing(fd, threads int) (r *ring, err error) {
	page, sizes := os.Getpagesize(), ringSizes
	if threads > fewThreads {
		sizes = sizes[1:]
	}
	for _, size := range sizes {
		var m []byte
		if m, err = unix.Mmap(fd, 0, page+size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
			return &ring{memory: m, head: (*unix.PerfEventMmapPage)(unsafe.Pointer(&m[0])), data: m[page:]}, nil
		}
	}
	return nil, err
}

func (r *ring) close() { unix.Munmap(r.memory) }

// read takes what is there: the kind of each record, and its body, which stays until the
// next one.
func (r *ring) read(each func(kind uint32, body []byte)) {
	const header = 8
	size := uint64(len(r.data))
	head, tail := atomic.LoadUint64(&r.head.Data_head), r.head.Data_tail
	for tail < head {
		at := tail % size
		h := r.data[at : at+header]
		n := uint64(binary.NativeEndian.Uint16(h[6:]))
		if n < header {
			break // never: it would not end
		}
		body := r.data[at+header : min(at+n, size)]
		if at+n > size {
			r.piece = append(append(r.piece[:0], body...), r.data[:at+n-size]...)
			body = r.piece
		}
		each(binary.NativeEndian.Uint32(h), body)
		tail += n
	}
	atomic.StoreUint64(&r.head.Data_tail, tail)
}

// identify is the number by which an event is known in samples.
func identify(fd int) (id uint64, err error) {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&id))); e != 0 {
		return 0, e
	}
	return id, nil
}
