package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	s, err := read(strings.NewReader(`{"ImportPath":"c","Action":"build-output","Output":"c.go:1: undefined: x\n"}
{"ImportPath":"c","Action":"build-fail"}
{"Package":"c","Action":"fail","FailedBuild":"c"}
{"Package":"a","Action":"run","Test":"TestOne"}
{"Package":"a","Action":"output","Test":"TestOne","Output":"    \"Action\":\"fail\" is only text\n"}
{"Package":"a","Action":"pass","Test":"TestOne/sub","Elapsed":0}
{"Package":"a","Action":"pass","Test":"TestOne","Elapsed":0}
{"Package":"a","Action":"output","Test":"TestTwo","Output":"=== RUN   TestTwo\n"}
{"Package":"a","Action":"output","Test":"TestTwo","Output":"    a_test.go:9: no compiler\n"}
{"Package":"a","Action":"skip","Test":"TestTwo","Elapsed":0}
{"Package":"a","Action":"pass","Elapsed":0.1}
{"Package":"b","Action":"output","Test":"TestBad","Output":"    b_test.go:1: got 1\n"}
{"Package":"b","Action":"fail","Test":"TestBad","Elapsed":0}
{"Package":"b","Action":"fail","Elapsed":0.1}
{"Package":"e","Action":"run","Test":"TestEnds"}
{"Package":"e","Action":"pass","Test":"TestEnds","Elapsed":0}
{"Package":"e","Action":"run","Test":"TestHangs"}
{"Package":"e","Action":"output","Test":"TestHangs","Output":"panic: test timed out after 15m0s\n"}
{"Package":"e","Action":"fail","Elapsed":900}
{"Package":"d","Action":"output","Output":"panic: in init\n"}
{"Package":"d","Action":"fail","Elapsed":0.1}
`))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	s.write(&b)
	for _, want := range []string{"\n3 passed, 4 failed, 1 skipped\n", "FAIL e TestHangs\npanic: test timed out", "\nfailed: e TestHangs\n", "skip a TestTwo: a_test.go:9: no compiler", "FAIL b TestBad\n    b_test.go:1: got 1", "panic: in init", "undefined: x"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if _, err := read(strings.NewReader("go: no such tool\n")); err == nil {
		t.Error("no error for what is not from go test -json")
	}
}
