package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/internal/runner"
	"github.com/skewlens/skewlens/lsp"
)

// TestMain lets the test's own executable stand in for skewlens as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Getenv("SKEWLENS_TEST_AS_COMMAND") != "" {
		os.Exit(testApp.start(context.Background(), os.Stdout, os.Stderr, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func testRunner(t *testing.T) *runner.Runner {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SKEWLENS_TEST_AS_COMMAND", "1")
	return &runner.Runner{Self: self, Dir: t.TempDir()}
}

func TestRunnerProfiles(t *testing.T) {
	b := realBench(t, 4)
	r := testRunner(t)
	var said []string
	tg := lsp.Target{Name: "owner", Root: b.dir, Cwd: b.dir, Program: filepath.Join(b.dir, "owner"), Args: []string{"{threads}"}, Threads: 4,
		Build: b.cc.String() + " -O2 -g -pthread owner.c -o owner -lm && echo built in $PWD"}
	if err := r.Build(context.Background(), tg, func(s string) { said = append(said, s) }); err != nil || strings.Join(said, "") != "built in "+b.dir {
		t.Fatalf("build: %v, it said %q", err, said)
	}
	said = nil
	p, err := r.Profile(context.Background(), tg, func(g lsp.Progress) {
		if g.Output != "" {
			said = append(said, g.Output)
		}
	})
	if err != nil {
		t.Fatalf("%v; it said %q", err, said)
	}
	if len(p.Sections) == 0 || p.Program.Args[0] != "4" || !strings.Contains(strings.Join(said, "\n"), "checksum") {
		t.Errorf("profile of %q with %d sections; the target said %q", p.Program.Args, len(p.Sections), said)
	}
	if left, _ := os.ReadDir(r.Dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	tg.Program = filepath.Join(b.dir, "missing")
	if _, err := r.Profile(context.Background(), tg, func(lsp.Progress) {}); err == nil || !strings.Contains(err.Error(), "there is no such file") {
		t.Errorf("a program that is missing: %v", err)
	}
}

// sleeper is a target that tells its process id and that of its own child,
// and then lasts for ever, deaf to signals.
const sleeper = `trap '' TERM INT HUP; sleep 1000000 & echo $$ $!; while :; do wait; sleep 1; done`

// pids reads what the sleeper says.
func pids(t *testing.T, line string) (a, b int) {
	t.Helper()
	if _, err := fmt.Sscan(line, &a, &b); err != nil {
		t.Fatalf("the target said %q", line)
	}
	return a, b
}

// gone waits for the end of a process that is nobody's child here.
func gone(pid int) bool {
	for range 1 << 20 {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(b), ") Z ") {
			return true
		}
		_ = exec.Command("true").Run() // lets others run
	}
	return false
}

func TestCancelKillsTheWholeGroup(t *testing.T) {
	r := testRunner(t)
	ctx, cancel := context.WithCancel(context.Background())
	line := ""
	err := r.Build(ctx, lsp.Target{Root: t.TempDir(), Build: sleeper}, func(s string) { line = s; cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	a, b := pids(t, line)
	if !gone(a) || !gone(b) {
		t.Error("something of the target goes on")
	}
}

// A client that dies, or a server that is killed, takes the target along; also
// where another process has inherited the client's end of the pipes.
func TestTargetDiesWithServer(t *testing.T) {
	const closes, dies, killed = "the client closes its end", "the client dies, its end is open", "the server is killed"
	for _, how := range []string{closes, dies, killed} {
		t.Run(how, func(t *testing.T) {
			client := exec.Command("cat")
			life, err := client.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			end := sync.OnceFunc(func() { life.Close(); _ = client.Wait() })
			defer end()
			r := testRunner(t)
			dir := t.TempDir()
			said := filepath.Join(dir, "said")
			if err := syscall.Mkfifo(said, 0o600); err != nil {
				t.Fatal(err)
			}
			put := func(name, content string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put("sleeper", strings.Replace(sleeper, "echo $$ $!", "echo $$ $! > said", 1))
			put(".skewlens.toml", "[[target]]\nprogram = \"x\"\nbuild = \"exec sh ./sleeper\"\n")
			cmd := exec.Command(r.Self, "serve")
			cmd.Env = with(os.Environ(), "XDG_CACHE_HOME", dir)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			send := func(s string) { fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(s), s) }
			send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":` + strconv.Itoa(client.Process.Pid) + `,"rootUri":"file://` + dir + `","capabilities":{}}}`)
			send(`{"jsonrpc":"2.0","id":2,"method":"workspace/executeCommand","params":{"command":"skewlens.profileTarget"}}`)
			f, err := os.Open(said) // until the target opens its end
			if err != nil {
				t.Fatal(err)
			}
			line, err := io.ReadAll(f)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			switch how {
			case closes:
				in.Close()
			case dies:
				end()
			case killed:
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait()
			a, b := pids(t, string(line))
			if !gone(a) {
				t.Error("the target goes on")
			}
			if !gone(b) {
				t.Error("the target's child goes on")
			}
		})
	}
}

func TestServeTakesNoArguments(t *testing.T) {
	if _, stderr, status := skewlens("serve", "x"); status != exitUsage || !strings.Contains(stderr, "serve takes no arguments") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if _, stderr, status := skewlens("serve", "--stdio", "x"); status != exitUsage {
		t.Errorf("behind --stdio: status %d: %s", status, stderr)
	}
}

// TestServeStdio: clients that say --stdio to every server are answered.
func TestServeStdio(t *testing.T) {
	cmd := exec.Command(ownProgram(t), "serve", "--stdio") // its input is empty
	cmd.Env = append(os.Environ(), "SKEWLENS_TEST_AS_COMMAND=1", "XDG_CACHE_HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// An exit that no shutdown came before has the status that the protocol wants.
func TestServeExitsWithoutShutdown(t *testing.T) {
	cmd := exec.Command(testRunner(t).Self, "serve")
	in := ""
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`, `{"jsonrpc":"2.0","method":"exit"}`} {
		in += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s)
	}
	cmd.Stdin = strings.NewReader(in)
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
}
