package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/internal/golden"
	"github.com/skewlens/skewlens/report/internal/reporttest"
	"github.com/skewlens/skewlens/report/scaling"
)

// study is the report of scaling's own tests.
func study(t *testing.T) *scaling.Report {
	t.Helper()
	b, err := os.ReadFile("../scaling/testdata/study.json")
	if err != nil {
		t.Fatal(err)
	}
	r := &scaling.Report{}
	if err := json.Unmarshal(b, r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGoldenScaling(t *testing.T) {
	var b bytes.Buffer
	if err := WriteScaling(&b, study(t), Options{Dir: "/src", Source: reporttest.Sources}); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "scaling.txt", b.Bytes())
	for l := range strings.Lines(b.String()) {
		if w := width(strings.TrimRight(l, "\n")); w > 100 {
			t.Errorf("%d columns: %s", w, l)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestScalingErrorsAreTheWriters(t *testing.T) {
	if err := WriteScaling(full{}, study(t), Options{Width: 1, Color: true}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Error(err)
	}
}
