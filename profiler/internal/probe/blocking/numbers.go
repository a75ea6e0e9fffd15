package blocking

import "syscall"

// Newer than package syscall's list.
const (
	sysSendmmsg      = 307
	sysSyncfs        = 306
	sysCopyFileRange = 326
	sysPreadv2       = 327
	sysPwritev2      = 328
	sysIoUringEnter  = 426
	sysEpollPwait2   = 441
	sysFutexWaitv    = 449
	sysFutexWait     = 455
)

// Class says what a system call waits for.
type Class uint8

const (
	None  Class = iota // it does not block
	Futex              // another thread, by a word in memory
	Sleep              // time
	IO                 // a file, a device, another process
	Event              // a signal, a message, another process
	Lock               // a file's lock
)

var classes = map[Class][]uint32{
	Futex: {syscall.SYS_FUTEX, sysFutexWaitv, sysFutexWait},
	Sleep: {syscall.SYS_NANOSLEEP, syscall.SYS_CLOCK_NANOSLEEP},
	IO: {syscall.SYS_READ, syscall.SYS_WRITE, syscall.SYS_READV, syscall.SYS_WRITEV, syscall.SYS_PREAD64, syscall.SYS_PWRITE64,
		syscall.SYS_PREADV, syscall.SYS_PWRITEV, sysPreadv2, sysPwritev2, syscall.SYS_SENDFILE, syscall.SYS_SPLICE, syscall.SYS_TEE,
		syscall.SYS_VMSPLICE, sysCopyFileRange, syscall.SYS_FSYNC, syscall.SYS_FDATASYNC, syscall.SYS_SYNC, sysSyncfs,
		syscall.SYS_SYNC_FILE_RANGE, syscall.SYS_MSYNC, syscall.SYS_FALLOCATE, syscall.SYS_OPEN, syscall.SYS_OPENAT, syscall.SYS_CLOSE, syscall.SYS_UNLINK,
		syscall.SYS_RENAME, syscall.SYS_TRUNCATE, syscall.SYS_FTRUNCATE, syscall.SYS_GETDENTS64, syscall.SYS_IOCTL,
		syscall.SYS_POLL, syscall.SYS_PPOLL, syscall.SYS_SELECT, syscall.SYS_PSELECT6, syscall.SYS_EPOLL_WAIT, syscall.SYS_EPOLL_PWAIT, sysEpollPwait2,
		syscall.SYS_RECVFROM, syscall.SYS_RECVMSG, syscall.SYS_RECVMMSG, syscall.SYS_SENDTO, syscall.SYS_SENDMSG, sysSendmmsg,
		syscall.SYS_ACCEPT, syscall.SYS_ACCEPT4, syscall.SYS_CONNECT, syscall.SYS_IO_GETEVENTS, sysIoUringEnter,
		syscall.SYS_WAIT4, syscall.SYS_WAITID},
	Event: {syscall.SYS_PAUSE, syscall.SYS_RT_SIGSUSPEND, syscall.SYS_RT_SIGTIMEDWAIT, syscall.SYS_MSGRCV, syscall.SYS_MSGSND, syscall.SYS_SEMOP,
		syscall.SYS_SEMTIMEDOP, syscall.SYS_MQ_TIMEDRECEIVE, syscall.SYS_MQ_TIMEDSEND},
	Lock: {syscall.SYS_FLOCK, syscall.SYS_FCNTL},
}

var byNumber, blocks = func() (map[uint32]Class, map[uint32]bool) {
	class, is := map[uint32]Class{}, map[uint32]bool{}
	for c, list := range classes {
		for _, nr := range list {
			class[nr], is[nr] = c, true
		}
	}
	return class, is
}()

// May reports whether calls of a number may block, or wake those who do.
func May(number uint32) bool { return blocks[number] }

// Wakes is how many threads a call let go on that waited on the word at Arg1.
func (w *Wait) Wakes() int {
	const wake, wakeBitset, command = 1, 10, 0x7f
	if op := w.Arg2 & command; w.Number != syscall.SYS_FUTEX || op != wake && op != wakeBitset {
		return 0
	}
	return int(max(0, int32(w.Result)))
}

// Woken reports whether a call that waited on the word at Arg1 came back
// because another thread woke it: not by an error, as where time was up.
func (w *Wait) Woken() bool { return w.Result == 0 }

// ClassOf says what a system call waits for that has these first two
// arguments: poll and select of nothing only wait for time, and a futex is
// also woken by what it waits with.
func ClassOf(nr uint32, arg1, arg2 uint64) Class {
	const wait, lockPI, waitBitset, waitRequeuePI, lockPI2, command = 0, 6, 9, 11, 13, 0x7f
	switch nr {
	case syscall.SYS_FUTEX:
		switch arg2 & command {
		case wait, lockPI, waitBitset, waitRequeuePI, lockPI2:
		default:
			return None
		}
	case syscall.SYS_POLL, syscall.SYS_PPOLL:
		if arg2 == 0 {
			return Sleep
		}
	case syscall.SYS_SELECT, syscall.SYS_PSELECT6:
		if arg1 == 0 {
			return Sleep
		}
	}
	return byNumber[nr]
}
