package atomicfile

import (
	"os"
	"os/signal"
	"syscall"
)

// orEndedWithout has a temporary file removed by a signal that ends the process, until what
// it returns is called. Signals that are ignored stay so.
func orEndedWithout(name string) (stop func()) {
	c, stopped := make(chan os.Signal, 1), make(chan struct{})
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
	go func() {
		select {
		case sig := <-c:
			os.Remove(name)
			raise(sig)
		case <-stopped:
		}
	}()
	return func() {
		signal.Stop(c)
		close(stopped)
		select {
		case sig := <-c: // which came last
			raise(sig)
		default:
		}
	}
}

// raise has a signal do what it does to a process that does not care.
func raise(sig os.Signal) {
	signal.Reset(sig)
	_ = syscall.Kill(os.Getpid(), sig.(syscall.Signal))
}
