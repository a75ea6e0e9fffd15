package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runGroup runs a command in a process group of its own, which does not outlive
// this process or ctx, and hands on what it prints, line by line. What leaves
// the group (by setsid, as daemons do) is out of reach. began is told the group.
func runGroup(ctx context.Context, cmd *exec.Cmd, began func(group int), line func(string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	group, end, err := guard()
	if err != nil {
		return fmt.Errorf("start the guard of %s: %w", cmd.Path, err)
	}
	defer end()
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	cmd.Stdout, cmd.Stderr = write, write // standard input is empty: ours is the client's
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	err = cmd.Start()
	write.Close()
	if err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	began(group)
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		eachLine(read, line)
	}()
	select {
	case err = <-exited:
	case <-ctx.Done():
		end()
		<-exited
		err = ctx.Err()
	}
	end() // a grandchild may hold the pipe open; it belongs to the group too
	select {
	case <-drained:
	case <-time.After(time.Second): // one that left the group
		read.Close()
		<-drained
	}
	return err
}

// guard begins a process group by a process that kills it all, itself too, when
// its input ends: when this process dies, whatever the way. end does so at once.
func guard() (group int, end func(), err error) {
	g := exec.Command("/bin/sh", "-c", "trap '' HUP INT QUIT TERM; read x; kill -KILL 0")
	g.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := g.StdinPipe(); err != nil {
		return 0, nil, err
	}
	if err := g.Start(); err != nil {
		return 0, nil, err
	}
	return g.Process.Pid, sync.OnceFunc(func() {
		_ = syscall.Kill(-g.Process.Pid, syscall.SIGKILL)
		_ = g.Wait()
	}), nil
}

// eachLine hands on lines, those that are very long in pieces.
func eachLine(r io.Reader, f func(string)) {
	in := bufio.NewReaderSize(r, 4096)
	for {
		b, err := in.ReadSlice('\n')
		if s := strings.ToValidUTF8(strings.TrimRight(string(b), "\r\n"), "\uFFFD"); s != "" {
			f(s)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
