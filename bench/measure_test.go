package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMeasure: who fails, ends at once or lacks its input is no result.
func TestMeasure(t *testing.T) {
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	loop := `read n; while [ "$n" -lt 1000000 ]; do n=$((n+1)); done`
	if _, err := measure([]string{"sh", "-c", loop}, input); err != nil {
		t.Errorf("one that works: %v", err)
	}
	for cpu, ok := range map[time.Duration]bool{0: false, atOnce - 1: false, atOnce: true, time.Second: true} {
		if err := (cost{cpu: cpu}).check([]string{"x", "y"}); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "run x y: it ended after") {
			t.Errorf("%v: %v", cpu, err)
		}
	}
	for _, x := range []struct{ does, input, want string }{
		{"echo no >&2; echo such file >&2; exit 3", "", "exit status 3: such file;"},
		{loop + "; exit 1", input, "exit status 1"},
		{loop, input + "s", "no such file"},
	} {
		_, err := measure([]string{"sh", "-c", x.does}, x.input)
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q in one line", x.does, err, x.want)
		}
	}
}
