package report

import (
	"bytes"
	"testing"

	"github.com/skewlens/skewlens/internal/golden"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report/internal/reporttest"
)

func made(t *testing.T, f func() (*profile.Profile, reporttest.Analyse)) *Report {
	t.Helper()
	p, a := f()
	r, err := New(p, Options{Analyse: a})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGoldenJSON(t *testing.T) {
	for name, f := range reporttest.Scenes() {
		var b bytes.Buffer
		if err := WriteJSON(&b, made(t, f)); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, name+".json", b.Bytes())
	}
}
