package tracee

import (
	"os"
	"os/exec"
	"testing"
)

// TestSharesMemory: a process has its own memory, a program that it has started another one.
func TestSharesMemory(t *testing.T) {
	me := os.Getpid()
	if !sharesMemory(me, me) {
		t.Skip("this kernel does not compare processes")
	}
	other := exec.Command("cat")
	hold, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if sharesMemory(me, other.Process.Pid) {
		t.Error("another program has this one's memory")
	}
	hold.Close()
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
}
