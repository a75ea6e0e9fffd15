package cpuclock

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ringSize is the bytes of a processor's ring, of 400 samples. A user may have
// 516 KB for each processor.
const ringSize = 512 << 10

// ring is where the kernel writes what happens on one processor.
type ring struct {
	fd     int
	memory []byte
	head   *unix.PerfEventMmapPage
	data   []byte
}

// openRing opens the event of a processor and its ring.
func openRing(cpu int, kernel bool) (*ring, error) {
	fd, err := open(cpu, kernel)
	if err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	memory, err := unix.Mmap(fd, 0, page+ringSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		return nil, errRing
	}
	return &ring{fd, memory, (*unix.PerfEventMmapPage)(unsafe.Pointer(&memory[0])), memory[page:]}, nil
}

func (r *ring) close() {
	unix.Munmap(r.memory)
	unix.Close(r.fd)
}

// read takes what is in the ring: the kind of each record and a copy of its body.
func (r *ring) read(each func(kind uint32, misc uint16, body []byte)) {
	const header = 8
	head, tail := atomic.LoadUint64(&r.head.Data_head), r.head.Data_tail
	for tail < head {
		at := tail % ringSize
		h := r.data[at : at+header]
		size := uint64(binary.NativeEndian.Uint16(h[6:]))
		body := append([]byte(nil), r.data[at+header:min(at+size, ringSize)]...)
		if at+size > ringSize {
			body = append(body, r.data[:at+size-ringSize]...)
		}
		each(binary.NativeEndian.Uint32(h), binary.NativeEndian.Uint16(h[4:]), body)
		tail += size
	}
	atomic.StoreUint64(&r.head.Data_tail, tail)
}
