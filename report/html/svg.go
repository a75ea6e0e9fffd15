package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// drawing is an SVG element under construction. It says what things are, by
// class; how they look, in light and in dark, is the style sheet's. What it
// shows stands in the page as a table too, so for those who cannot see it a
// sentence is enough.
type drawing struct {
	b             strings.Builder
	width, height float64
}

// drawingWidth is the widest that the page shows a drawing, so that there its
// letters are as large as the style sheet says.
const drawingWidth = 736

func newDrawing(height float64, label string) *drawing {
	d := &drawing{width: drawingWidth, height: height}
	fmt.Fprintf(&d.b, "<svg viewBox=\"0 0 %s %s\" role=\"img\" aria-label=\"%s\">\n", number(d.width), number(height), template.HTMLEscapeString(label))
	return d
}

// newWideDrawing has a width of its own, in pixels: the page scrolls it.
func newWideDrawing(width, height float64, label string) *drawing {
	d := &drawing{width: width, height: height}
	fmt.Fprintf(&d.b, "<svg width=\"%s\" height=\"%s\" role=\"img\" aria-label=\"%s\">\n", number(width), number(height), template.HTMLEscapeString(label))
	return d
}

func (d *drawing) text(class string, x, y float64, s string) {
	fmt.Fprintf(&d.b, "<text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>\n", class, number(x), number(y), template.HTMLEscapeString(s))
}

// turned writes a text upwards, around its middle.
func (d *drawing) turned(class string, x, y float64, s string) {
	fmt.Fprintf(&d.b, "<text class=\"%s\" transform=\"translate(%s %s) rotate(-90)\" y=\"%d\">%s</text>\n", class, number(x), number(y), lineHeight/4, template.HTMLEscapeString(s))
}

// rect is the area from (x0, y0) to (x1, y1), where x1 ≥ x0 and y1 ≥ y0.
type rect struct{ x0, y0, x1, y1 float64 }

// rects draws areas of one class as one path: there can be thousands. Those
// without a width are left out.
func (d *drawing) rects(class string, rs []rect) {
	var path strings.Builder
	for _, r := range rs {
		if w, h := number(r.x1-r.x0), number(r.y1-r.y0); w != "0" && h != "0" {
			fmt.Fprintf(&path, "M%s %sh%sv%sh-%sz", number(r.x0), number(r.y0), w, h, w)
		}
	}
	if path.Len() > 0 {
		fmt.Fprintf(&d.b, "<path class=\"%s\" d=\"%s\" />\n", class, path.String())
	}
}

func (d *drawing) line(class string, x0, y0, x1, y1 float64) {
	fmt.Fprintf(&d.b, "<path class=\"%s\" d=\"M%s %sL%s %s\" />\n", class, number(x0), number(y0), number(x1), number(y1))
}

// done is the element, for the page.
func (d *drawing) done() template.HTML {
	return template.HTML(d.b.String() + "</svg>")
}

// number writes a coordinate to a hundredth of a pixel.
func number(x float64) string {
	return strconv.FormatFloat(math.Round(100*x)/100+0, 'f', -1, 64) // + 0: never −0
}
