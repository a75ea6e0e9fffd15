package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// From the start of the process to the answer to initialize; and what the
// server holds in memory then. Built as users have it.
func BenchmarkServeColdStart(b *testing.B) {
	program := filepath.Join(b.TempDir(), "skewlens")
	if out, err := exec.Command("go", "build", "-o", program, "../..").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	dir := b.TempDir()
	const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`
	rss := 0.0
	var each []time.Duration
	for b.Loop() {
		start := time.Now()
		cmd := exec.Command(program, "serve")
		cmd.Env = with(os.Environ(), "XDG_CACHE_HOME", dir)
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body)
		r := bufio.NewReader(out)
		head, err := r.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "Content-Length:")))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, r, int64(n+2)); err != nil {
			b.Fatal(err)
		}
		each = append(each, time.Since(start))
		rss = max(rss, resident(cmd.Process.Pid))
		in.Close()
		_ = cmd.Wait()
	}
	slices.Sort(each)
	b.ReportMetric(float64(each[len(each)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(rss, "MB-resident")
}

// resident is the memory of a process in MB.
func resident(pid int) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kb float64
	_, _ = fmt.Sscan(rest, &kb)
	return kb / 1024
}
