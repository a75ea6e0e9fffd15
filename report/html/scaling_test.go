package html

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/internal/golden"
	"github.com/skewlens/skewlens/report/internal/reporttest"
	"github.com/skewlens/skewlens/report/internal/words"
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
	golden.Check(t, "scaling.html", b.Bytes())
	wellFormed(t, b.Bytes())
	standsAlone(t, b.Bytes())
}

// Each curve goes through its points; where one is not known it is broken.
func TestCurves(t *testing.T) {
	r := study(t)
	svg := string(speedupPlot(r))
	for class, points := range map[string]int{"linear": 4, "elision": 4, "maximal": 4, "idle": 3, "inflation": 4, "actual": 4, "forecast": 4} {
		if !strings.Contains(scalingStyle, ".curve."+class+" {") || !strings.Contains(scalingStyle, ".key."+class+" {") {
			t.Errorf("the style sheet does not know %s", class)
		}
		_, path, ok := strings.Cut(svg[strings.LastIndex(svg, `class="curve `+class+`"`):], ` d="`)
		path, _, _ = strings.Cut(path, `"`)
		if got := strings.Count(path, "M") + strings.Count(path, "L"); !ok || got != points {
			t.Errorf("%s has %d points, want %d: %s", class, got, points, path)
		}
	}
	names, _ := words.StackNames(r)
	for _, n := range names {
		if !strings.Contains(scalingStyle, "path."+n) || !strings.Contains(scalingStyle, ".key."+n+" {") {
			t.Errorf("the style sheet does not know the component %s", n)
		}
	}
	one := *r
	one.Points = r.Points[:1]
	one.ElisionS, one.Lines, one.Sections = nil, nil, nil
	var b bytes.Buffer
	if err := WriteScaling(&b, &one, Options{}); err != nil || strings.Contains(b.String(), "<svg") {
		t.Errorf("one point is no curve: %v", err)
	}
}

type brimful struct{}

func (brimful) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestScalingErrorsAreTheWriters(t *testing.T) {
	if err := WriteScaling(brimful{}, study(t), Options{}); err == nil || !strings.Contains(err.Error(), "write report: disk full") {
		t.Error(err)
	}
}
