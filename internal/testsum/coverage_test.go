package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// covered is what go test says of a package of which so much is reached.
func covered(pkg, percent string) string {
	return fmt.Sprintf(`{"Package":%q,"Action":"output","Output":"coverage: %s of statements\n"}
{"Package":%[1]q,"Action":"output","Output":"ok  \t%[1]s\t0.007s\tcoverage: %[2]s of statements\n"}
{"Package":%[1]q,"Action":"pass","Elapsed":1}
`, pkg, percent)
}

func TestCoverage(t *testing.T) {
	const none = `{"Package":"github.com/skewlens/skewlens","Action":"output","Output":"\tgithub.com/skewlens/skewlens\t\tcoverage: 0.0% of statements\n"}
{"Package":"github.com/skewlens/skewlens","Action":"pass","Elapsed":0}
`
	const skipped = `{"Package":"github.com/skewlens/skewlens/a","Action":"output","Test":"TestX","Output":"    a_test.go:9: no compiler\n"}
{"Package":"github.com/skewlens/skewlens/a","Action":"skip","Test":"TestX","Elapsed":0}
`
	a := "github.com/skewlens/skewlens/a"
	for _, c := range []struct{ name, in, exceptions, want string }{
		{"enough", covered(a, "85.0%"), "", ""},
		{"too little", covered(a, "84.9%"), "", "coverage of a\n    its own tests reach 84.9 % of its statements, want 85 %"},
		{"no tests", none, "", "coverage of .\n    its own tests reach 0.0 %"},
		{"without statements", `{"Package":"` + a + `","Action":"output","Output":"coverage: [no statements]\n"}` + "\n" + `{"Package":"` + a + `","Action":"pass"}` + "\n", "", ""},
		{"excepted", covered(a, "10.0%"), "a it drives a process", ""},
		{"excepted and enough", covered(a, "90.0%"), "a it drives a process", ""},
		{"two", covered(a, "10.0%") + none, "# why not\n\na soon\n. starts", ""},
		{"gone", covered(a, "90.0%"), "b it was", "coverage of b\n    it is in the list of exceptions, but there is no such package"},
		{"not judged", skipped + covered(a, "10.0%"), "", ""},
	} {
		list := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(list, []byte(c.exceptions), 0o666); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		failed, err := run(strings.NewReader(c.in), &out, list)
		if err != nil || failed != (c.want != "") || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: failed %v, %v, want %q in\n%s", c.name, failed, err, c.want, out.String())
		}
		if said := strings.Contains(out.String(), "coverage of a is not judged: 1 of its tests were skipped"); said != (c.name == "not judged") {
			t.Errorf("%s: it is not judged: %v\n%s", c.name, said, out.String())
		}
		if failed, _ := run(strings.NewReader(c.in), &out, ""); failed {
			t.Errorf("%s: failed although coverage does not matter", c.name)
		}
	}
}

func TestMistakesInTheList(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	for text, want := range map[string]string{
		"a": "line 1: want a package", "\na": "line 2: want a package", "a x\na y": "line 2: a is there already",
	} {
		if err := os.WriteFile(list, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := run(strings.NewReader(""), new(bytes.Buffer), list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := run(strings.NewReader(""), new(bytes.Buffer), list+" gone"); err == nil {
		t.Error("no error for a list that is not there")
	}
}

func TestLongOutputIsShortened(t *testing.T) {
	in := strings.Repeat(`{"Package":"a","Action":"output","Test":"T","Output":"line\n"}`+"\n", 200) + `{"Package":"a","Action":"fail","Test":"T"}` + "\n"
	var out bytes.Buffer
	if failed, err := run(strings.NewReader(in), &out, ""); !failed || err != nil || strings.Count(out.String(), "line\n") != 80 || !strings.Contains(out.String(), "… and 120 lines more") {
		t.Errorf("failed %v, %v, and it says\n%s", failed, err, out.String())
	}
}
