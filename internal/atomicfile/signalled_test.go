package atomicfile

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSignalled: who is ended while a file is written leaves the old one, and none beside it.
func TestSignalled(t *testing.T) {
	if name := os.Getenv("ATOMICFILE_WRITES"); name != "" {
		_ = Write(name, func(w io.Writer) error {
			os.Stdout.WriteString("writes\n")
			select {} // for ever
		})
		return
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		name := filepath.Join(dir, "report")
		if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestSignalled$")
		cmd.Env = append(os.Environ(), "ATOMICFILE_WRITES="+name)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if st, is := cmd.ProcessState.Sys().(syscall.WaitStatus); !is || sig != syscall.SIGQUIT && st.Signal() != sig || st.ExitStatus() == 0 {
			t.Errorf("%v: ended as %v", sig, cmd.ProcessState)
		}
		files, _ := os.ReadDir(dir)
		if text, _ := os.ReadFile(name); len(files) != 1 || string(text) != "old" {
			t.Errorf("%v: there are %v, %q", sig, files, text)
		}
	}
}
