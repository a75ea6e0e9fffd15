package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report/scaling"
)

func study(t *testing.T) *scaling.Report {
	t.Helper()
	f, err := os.Open("../scaling/testdata/study.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := scaling.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Pictures are what their names say, with all curves and units in them.
func TestFormats(t *testing.T) {
	r := study(t)
	var svg, bits, pdf bytes.Buffer
	for format, b := range map[string]*bytes.Buffer{"svg": &svg, "png": &bits, "pdf": &pdf} {
		if err := Write(b, r, format); err != nil {
			t.Fatal(err)
		}
	}
	d := xml.NewDecoder(bytes.NewReader(svg.Bytes()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"cores", "speedup", "linear", "elision", "maximal", "idle-specific", "inflation-specific", "actual"} {
		if !strings.Contains(svg.String(), ">"+want+"<") {
			t.Errorf("%s is not in the picture", want)
		}
	}
	if im, err := png.Decode(&bits); err != nil || im.Bounds().Dx() < 400 {
		t.Errorf("the PNG picture: %v", err)
	}
	if !strings.HasPrefix(pdf.String(), "%PDF-") {
		t.Error("this is no PDF")
	}
}

// What is not known is not drawn.
func TestUnknown(t *testing.T) {
	r := study(t)
	for i := range r.Points {
		r.Points[i].Speedup.Elision, r.Points[i].Speedup.IdleSpecific = nil, nil
		r.Points[i].Low = nil
	}
	var b bytes.Buffer
	if err := Write(&b, r, "svg"); err != nil || strings.Contains(b.String(), "elision") || strings.Contains(b.String(), "idle-specific") {
		t.Errorf("%v", err)
	}
}

func TestFormat(t *testing.T) {
	for file, want := range map[string]string{"a.svg": "svg", "/x/b.PNG": "png", "c.pdf": "pdf"} {
		if got, err := Format(file); got != want || err != nil {
			t.Errorf("%s: %s, %v", file, got, err)
		}
	}
	for _, file := range []string{"a", "a.gif", "svg", ""} {
		if _, err := Format(file); err == nil || !strings.Contains(err.Error(), "must end in .svg, .png, .pdf") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestErrorsAreTheWriters(t *testing.T) {
	for _, format := range formats {
		if err := Write(full{}, study(t), format); err == nil || !strings.Contains(err.Error(), "plot speedups: ") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// Stacks are of the points whose idle time is known, and none is no picture.
func TestStacks(t *testing.T) {
	r := study(t)
	var b bytes.Buffer
	if err := WriteStack(&b, r, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cores", "speedup", "overhead", "inflation", "idle", "idle: locks, conditions", "idle: no thread", "4"} {
		if !strings.Contains(b.String(), ">"+want+"<") {
			t.Errorf("%s is not in the picture", want)
		}
	}
	for i := range r.Points {
		r.Points[i].Stack = nil
	}
	if err := WriteStack(&b, r, "svg"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("no stacks: %v", err)
	}
	if err := WriteStack(&b, study(t), "gif"); err == nil {
		t.Error("a format that there is not")
	}
}
