package html

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report"
)

func TestWriteComparison(t *testing.T) {
	half, none := .5, 0.0
	run := func(imbalance *float64) *report.Report {
		return &report.Report{Program: report.Program{Path: "/w/<p>"}, Sections: []report.Section{{ID: "m<1>", Imbalance: imbalance}}}
	}
	var b strings.Builder
	if err := WriteComparison(&b, report.Compare(run(&none), run(&half)), Options{Dir: "/w"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"m&lt;1&gt;", `class="bad">worse`, "50\u00a0%"} {
		if !strings.Contains(strings.ReplaceAll(b.String(), "50 %", "50\u00a0%"), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
	b.Reset()
	if err := WriteComparison(&b, report.Compare(&report.Report{}, &report.Report{}), Options{}); err != nil || !strings.Contains(b.String(), "Neither run") {
		t.Errorf("%v", err)
	}
}
