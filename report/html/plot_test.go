package html

import (
	"encoding/xml"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"testing"
)

// shapes reads a drawing back: the areas of each class, from "Mx yhwvhh-wz",
// and its labels.
func shapes(t *testing.T, svg template.HTML) (areas map[string][]rect, labels []string) {
	t.Helper()
	areas = map[string][]rect{}
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	class := ""
	for {
		tok, err := d.Token()
		if tok == nil {
			return areas, labels
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			at := map[string]string{}
			for _, a := range e.Attr {
				at[a.Name.Local] = a.Value
			}
			class = at["class"]
			if class != "" && !strings.Contains(pageStyle, "."+strings.Split(class, " ")[0]+" {") {
				t.Errorf("the style sheet does not know the class %s", class)
			}
			for _, p := range strings.SplitAfter(at["d"], "z") {
				var x, y, w, h, back float64
				if n, _ := fmt.Sscanf(p, "M%f %fh%fv%fh%fz", &x, &y, &w, &h, &back); n == 5 {
					if back != -w {
						t.Errorf("%s does not close", p)
					}
					areas[class] = append(areas[class], rect{x, y, x + w, y + h})
				}
			}
		case xml.CharData:
			if s := strings.TrimSpace(string(e)); s != "" {
				labels = append(labels, s)
			}
		}
	}
}

func close2(a, b float64) bool { return math.Abs(a-b) < 0.03 } // two rounded coordinates

func TestBarsAreAsTallAsTheirValues(t *testing.T) {
	busy, wait := []float64{10, 0, 40}, []float64{30, 50, 0}
	svg := barPlot([]string{"3", "7", "9"}, "thread", `a "plot" of <threads>`, func(x float64) string { return fmt.Sprint(x, "s") }, series{busy, "busy"}, series{wait, "wait"})
	if !strings.Contains(string(svg), `aria-label="a &#34;plot&#34; of &lt;threads&gt;"`) || !strings.Contains(string(svg), `role="img"`) {
		t.Errorf("its label is not escaped, or not there: %.200s", svg)
	}
	areas, labels := shapes(t, svg)
	if got := strings.Join(labels, " "); got != "0 10s 20s 30s 40s 50s 3 7 9 thread" {
		t.Errorf("labels %s", got)
	}
	// Those of no height are left out.
	b, w := areas["busy"], areas["wait"]
	if len(b) != 2 || len(w) != 2 {
		t.Fatalf("%d and %d bars, want two of each: %v", len(b), len(w), areas)
	}
	unit := barsHeight / 50.
	for i, c := range []struct {
		r          rect
		from, high float64 // in values
	}{{b[0], 0, 10}, {w[0], 10, 30}, {w[1], 0, 50}, {b[1], 0, 40}} {
		low := gap + barsHeight - unit*c.from
		if !close2(c.r.y1, low) || !close2(c.r.y1-c.r.y0, unit*c.high) {
			t.Errorf("bar %d: from %g up to %g, want %g high on %g", i, c.r.y1, c.r.y0, unit*c.high, low)
		}
	}
	if !close2(b[0].x0, w[0].x0) || b[0].x1 >= w[1].x0 || w[1].x1 >= b[1].x0 || b[1].x1 > drawingWidth {
		t.Errorf("the threads' bars do not stand side by side: %v", areas)
	}
}

// A plot of nothing is empty, not divided by zero.
func TestBarsOfNothing(t *testing.T) {
	svg := barPlot([]string{"0", "1"}, "thread", "nothing", decimalCount, series{[]float64{0, 0}, "count"})
	if areas, _ := shapes(t, svg); len(areas) != 0 || strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
		t.Errorf("%s", svg)
	}
}

func TestLanes(t *testing.T) {
	line := &timeline{ids: []string{"0", "5"}, times: 1, from: 2, to: 12, axis: "time", show: func(x float64) string { return strconv.Itoa(int(x)) },
		bars: []bar{{0, 2, 7, 12}, {1, 3, 12, 12}}}
	plot, names := lanePlot(line, "lanes")
	if names != "" {
		t.Errorf("names apart from a plot that does not move: %s", names)
	}
	areas, labels := shapes(t, plot)
	if got := strings.Join(labels, "|"); got != "0|5|thread|0|2|5|7|10|time" {
		t.Errorf("labels %s", got)
	}
	work, wait := areas["work"], areas["wait"]
	if len(work) != 2 || len(wait) != 1 {
		t.Fatalf("%d lanes of work, %d of waiting, want 2 and 1: who did not wait has none", len(work), len(wait))
	}
	unit := (wait[0].x1 - work[0].x0) / 10
	for i, c := range []struct{ got, want float64 }{
		{wait[0].x0, work[0].x0 + 5*unit}, {work[0].x1, wait[0].x0}, // half of it, then it waits
		{work[1].x0, work[0].x0 + unit}, {work[1].x1, wait[0].x1},
		{work[0].y0, wait[0].y0}, {work[0].y1, wait[0].y1},
	} {
		if !close2(c.got, c.want) {
			t.Errorf("%d: %g, want %g of %v", i, c.got, c.want, areas)
		}
	}
	if work[0].y1 >= work[1].y0 {
		t.Errorf("the lanes overlap: %v", work)
	}
}

// Zoomed, all of it is so many times as wide, with as many more ticks; the threads'
// names are apart.
func TestLanesZoomed(t *testing.T) {
	line := &timeline{ids: []string{"0", "5"}, times: 1, from: 2, to: 12, axis: "time", show: func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) },
		bars: []bar{{0, 2, 7, 12}, {1, 3, 12, 12}}}
	plot, _ := lanePlot(line, "lanes")
	small, _ := shapes(t, plot)
	line.times = 4
	wide, names := lanePlot(line, "lanes")
	areas, labels := shapes(t, wide)
	if got := strings.Join(labels, "|"); got != "0|0.5|1|1.5|2|2.5|3|3.5|4|4.5|5|5.5|6|6.5|7|7.5|8|8.5|9|9.5|10|time" {
		t.Errorf("labels %s", got)
	}
	if _, labels := shapes(t, names); strings.Join(labels, "|") != "0|5|thread" {
		t.Errorf("names %v", labels)
	}
	for class, rects := range small {
		for i, r := range rects {
			z := areas[class][i]
			if times := (z.x1 - z.x0) / (r.x1 - r.x0); times < 4 || times > 4.5 || z.y0 != r.y0 || z.y1 != r.y1 {
				t.Errorf("%s: %v is %v", class, r, z)
			}
		}
	}
}

func TestManyThreadsLeaveNoGaps(t *testing.T) {
	ids, values := make([]string, 1000), make([]float64, 1000)
	for i := range ids {
		ids[i], values[i] = strconv.Itoa(i), 1
	}
	areas, labels := shapes(t, barPlot(ids, "thread", "many", decimalCount, series{values, "work"}))
	bars := areas["work"]
	if len(bars) != 1000 || len(labels) > 40 {
		t.Fatalf("%d bars, %d labels, want all bars and as many labels as have room", len(bars), len(labels))
	}
	for i := 1; i < len(bars); i++ {
		if !close2(bars[i-1].x1, bars[i].x0) {
			t.Fatalf("between %v and %v there is a gap", bars[i-1], bars[i])
		}
	}
}

func TestNumbersOfDrawings(t *testing.T) {
	for x, want := range map[float64]string{0: "0", -0.001: "0", 12.3456: "12.35", -3.5: "-3.5", 736: "736"} {
		if got := number(x); got != want {
			t.Errorf("number(%v) = %s, want %s", x, got, want)
		}
	}
}
