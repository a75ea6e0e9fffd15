package golden

import (
	"os"
	"testing"
)

// recorder is a test that may fail without failing this one.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Name() string          { return "TestOther" }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatal(...any)          { r.failed = true }

func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	differs := func(content string) bool {
		r := &recorder{TB: t}
		Check(r, "a.txt", []byte(content))
		return r.failed
	}
	if !differs("one\n") {
		t.Error("a file that is not there is no failure")
	}
	*update = true
	written := differs("one\n")
	*update = false
	if text, err := os.ReadFile("testdata/a.txt"); written || err != nil || string(text) != "one\n" {
		t.Errorf("-update wrote %q, %v", text, err)
	}
	if differs("one\n") || !differs("one") || !differs("two\n") {
		t.Error("want a failure where a byte differs, and only there")
	}
}
