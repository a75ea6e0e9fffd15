package faults

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ringSize is the bytes of a processor's ring: of 3,000 samples.
const ringSize = 256 << 10

// ring is where the kernel writes the samples of one processor.
type ring struct {
	memory []byte
	head   *unix.PerfEventMmapPage
	data   []byte
	file   *os.File   // of the first counter, whose ring it is
	fds    [kinds]int // of all
	ids    map[uint64]kind
	begun  start  // the last begin of a fault
	apart  int    // ends since then of other faults
	piece  []byte // a record that does not lie in one piece
}

// openRing opens a processor's counters.
func openRing(pid, cpu int) (*ring, error) {
	r := &ring{ids: map[uint64]kind{}, fds: [kinds]int{-1, -1, -1}}
	for k := range kind(kinds) {
		if err := r.open(k, pid, cpu); err != nil {
			r.close()
			return nil, err
		}
	}
	r.file = os.NewFile(uintptr(r.fds[begins]), "page faults")
	r.restart()
	return r, nil
}

// open opens one of the counters; the first brings the ring, where all write.
func (r *ring) open(k kind, pid, cpu int) error {
	fd, id, err := k.open(pid, cpu, r.fds[begins])
	if err != nil {
		return err
	}
	r.fds[k], r.ids[id] = fd, k
	if k != begins {
		return unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, r.fds[begins])
	}
	page := os.Getpagesize()
	if r.memory, err = unix.Mmap(fd, 0, page+ringSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return err
	}
	r.head, r.data = (*unix.PerfEventMmapPage)(unsafe.Pointer(&r.memory[0])), r.memory[page:]
	return nil
}

// restart has the counters of begins and ends tick together.
func (r *ring) restart() {
	const all = 1 // PERF_IOC_FLAG_GROUP
	leader := r.fds[begins]
	unix.IoctlSetInt(leader, unix.PERF_EVENT_IOC_DISABLE, all)
	for k, c := range counters {
		control(r.fds[k], unix.PERF_EVENT_IOC_PERIOD, &c.interval)
	}
	unix.IoctlSetInt(leader, unix.PERF_EVENT_IOC_ENABLE, all)
	r.begun, r.apart = start{}, 0
}

func (r *ring) close() {
	if r.file != nil {
		r.file.Close() // waits until nobody reads
		r.fds[begins] = -1
	}
	for _, fd := range r.fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	if r.memory != nil {
		unix.Munmap(r.memory)
	}
}

// control is ioctl with a pointer to a number.
func control(fd int, request uintptr, n *uint64) error {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(n))); e != 0 {
		return e
	}
	return nil
}

// sample is what one of the counters has written.
type sample struct {
	kind              kind
	at                int64 // ns
	pid, tid          uint32
	addr, pc, sp, top uint64
	ns                int64 // how long it took; 0: not known
}

// read takes what is in the ring, and counts what found no room.
func (r *ring) read(each func(sample)) (lost uint64) {
	const header = 8
	head, tail := atomic.LoadUint64(&r.head.Data_head), r.head.Data_tail
	for tail < head {
		at := tail % ringSize
		h := r.data[at : at+header]
		size := uint64(binary.NativeEndian.Uint16(h[6:]))
		body := r.data[at+header : min(at+size, ringSize)]
		if at+size > ringSize {
			r.piece = append(append(r.piece[:0], body...), r.data[:at+size-ringSize]...)
			body = r.piece
		}
		switch binary.NativeEndian.Uint32(h) {
		case unix.PERF_RECORD_SAMPLE:
			s := r.parse(body)
			r.follow(&s)
			each(s)
		case unix.PERF_RECORD_LOST:
			lost += binary.NativeEndian.Uint64(body[8:])
		}
		tail += size
	}
	atomic.StoreUint64(&r.head.Data_tail, tail)
	return lost
}

// start is a fault that has begun.
type start struct {
	at   int64
	tid  uint32
	addr uint64
}

// follow finds how long a fault took that ends.
func (r *ring) follow(s *sample) {
	switch b := r.begun; {
	case s.kind == begins:
		r.begun = start{s.at, s.tid, s.addr}
	case b.tid == s.tid && b.addr == s.addr:
		s.ns = s.at - b.at
		r.begun, r.apart = start{}, 0
	case s.kind == minors:
		r.apart++
	}
}

// parse reads a sample, in the order in which the kernel writes what it bears.
func (r *ring) parse(b []byte) sample {
	next := func() (w uint64) {
		w, b = binary.NativeEndian.Uint64(b), b[8:]
		return w
	}
	s := sample{kind: r.ids[next()]}
	if s.kind != begins {
		s.pc = next()
	}
	who := next()
	s.pid, s.tid, s.at, s.addr = uint32(who), uint32(who>>32), int64(next()), next()
	if s.kind == begins || next() == 0 { // the registers' ABI; 0: there are none
		return s
	}
	s.sp = next()
	if next() != 0 { // bytes of the stack, and behind them how many of them are
		s.top = next()
	}
	return s
}
