package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
)

// HTMLOptions say what the page may show; the zero value is a page without
// source excerpts.
type HTMLOptions struct {
	Dir    string // paths below it are shown relative to it
	Source Source // nil: no excerpts
}

var (
	//go:embed html/page.tmpl
	pageText string
	//go:embed html/style.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// WriteHTML writes the report as one page that needs nothing else: no script,
// no font, no picture from elsewhere, and its content security policy says so.
// It follows the reader's light or dark setting. All names come from other
// people's programs and are escaped.
func WriteHTML(w io.Writer, r *Report, opt HTMLOptions) error {
	h := htmlPage{opt: opt, t: text{opt: TextOptions{Dir: opt.Dir, Width: 1 << 20}}, r: r}
	p, err := h.page()
	if err != nil {
		return err
	}
	if err := pageTemplate.Execute(w, p); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// What the template shows. Numbers are text by then: "" is one that is not known.
type (
	page struct {
		Style                    template.CSS
		Command, Facts           string
		Warnings                 []Warning
		Sections                 []pageSection
		Brief                    []pageSection
		BriefTitle, SkippedTitle string
		Skipped                  []Skipped
	}
	pageSection struct {
		Anchor, ID, Title, Kind, Facts          string
		Time, Imbalance, Waited, First, Verdict string
		Instances                               int
		Warnings                                []Warning
		Plots                                   []pagePlot
		Numbers                                 []pageNumber
		Threads                                 []pageThread
		Causes                                  []pageCause
	}
	pagePlot struct {
		SVG     template.HTML
		Caption string
		Keys    []pageKey
	}
	pageKey    struct{ Class, Name string }
	pageNumber struct{ Name, Value, Means string }
	pageThread struct {
		ID                             int
		Instructions, Part, Busy, Wait string
	}
	pageCause struct {
		Anchor, Share, Place, Kind, Message string
		Rank                                int
		Inlined                             []string
		Excerpts                            []pageExcerpt
		Plots                               []pagePlot
		Numbers                             []pageNumber
		MembersTitle, Way                   string
		Members                             []pageMember
	}
	pageExcerpt struct {
		Title string
		Lines []pageLine
		Stale *Warning
	}
	pageLine struct {
		Number int
		Text   string
		Hit    bool
	}
	pageMember struct {
		Line, Function, Kind, Corr string
		Events                     int
	}
)

// htmlPage makes the page; names and numbers read as in the text report.
type htmlPage struct {
	opt HTMLOptions
	t   text
	r   *Report
}

func (h *htmlPage) page() (*page, error) {
	r := h.r
	p := &page{Style: template.CSS(pageStyle), Warnings: printableWarnings(r.Warnings)}
	var head strings.Builder
	t := h.t
	t.w = &head
	t.header(r)
	p.Command, p.Facts, _ = strings.Cut(strings.TrimSpace(head.String()), "\n")
	for i := range r.Sections {
		s := &r.Sections[i]
		v, err := h.section(s, i+1)
		if err != nil {
			return nil, err
		}
		if brief(s) {
			p.Brief = append(p.Brief, v)
		} else {
			p.Sections = append(p.Sections, v)
		}
	}
	p.BriefTitle = count(len(p.Brief), "section") + ": balanced, too short to matter, or never completed"
	for _, s := range r.Coverage.Skipped {
		p.Skipped = append(p.Skipped, Skipped{printable(s.Function), printable(s.Reason)})
	}
	p.SkippedTitle = count(len(p.Skipped), "function")
	return p, nil
}

func (h *htmlPage) section(s *Section, n int) (pageSection, error) {
	v := pageSection{
		Anchor: fmt.Sprintf("s%d", n), ID: printable(s.ID), Title: h.t.sectionName(s), Kind: s.Kind, Instances: s.Instances,
		Warnings: printableWarnings(s.Warnings),
	}
	facts := []string{s.Kind, count(s.Instances, "instance")}
	if s.TimeS != nil {
		v.Time = units.SecondsOf(*s.TimeS, *s.TimeS)
		facts = append(facts, v.Time)
	}
	if s.IdleS != nil {
		v.Waited = units.SecondsOf(*s.IdleS, *s.IdleS)
		facts = append(facts, "threads waited "+v.Waited+" in all")
	}
	v.Facts = strings.Join(facts, dot)
	if brief(s) {
		v.Verdict = h.t.verdict(s)
		if s.Negligible && !s.Balanced && s.Imbalance != nil {
			v.Warnings = nil // nothing depends on what is too short to matter
		}
		return v, nil
	}
	v.Imbalance = units.Percent(*s.Imbalance)
	if len(s.Causes) > 0 {
		v.First = printable(s.Causes[0].Location.Short()) + " (" + units.Percent(s.Causes[0].Share) + ")"
	}
	v.Numbers = h.sectionNumbers(s)
	v.Threads = threadRows(s)
	var err error
	if v.Plots, err = h.sectionPlots(s); err != nil {
		return v, err
	}
	for i := range s.Causes {
		c, err := h.cause(s, &s.Causes[i], v.Anchor)
		if err != nil {
			return v, err
		}
		v.Causes = append(v.Causes, c)
	}
	return v, nil
}

func threadRows(s *Section) []pageThread {
	most := uint64(1)
	for _, t := range s.Threads {
		most = max(most, t.Instructions)
	}
	rows := []pageThread{}
	for _, t := range s.Threads {
		row := pageThread{ID: t.ID, Instructions: units.Count(t.Instructions), Part: units.Percent(float64(t.Instructions) / float64(most))}
		if t.BusyS != nil {
			row.Busy = units.SecondsOf(*t.BusyS, *t.BusyS)
		}
		if t.WaitS != nil {
			row.Wait = units.SecondsOf(*t.WaitS, *t.WaitS)
		}
		rows = append(rows, row)
	}
	return rows
}

func (h *htmlPage) sectionPlots(s *Section) ([]pagePlot, error) {
	if len(s.Threads) == 0 {
		return nil, nil
	}
	ids, work, busy, wait := make([]int, len(s.Threads)), make([]float64, len(s.Threads)), make([]float64, len(s.Threads)), make([]float64, len(s.Threads))
	timed, most := true, 0.0
	for i, t := range s.Threads {
		ids[i], work[i] = t.ID, float64(t.Instructions)
		if timed = timed && t.BusyS != nil && t.WaitS != nil; timed {
			busy[i], wait[i] = *t.BusyS, *t.WaitS
			most = max(most, busy[i]+wait[i])
		}
	}
	svg, err := barPlot(ids, "work of each thread in executed instructions", func(x float64) string { return units.Compact(uint64(x)) }, series{work, workColor})
	if err != nil {
		return nil, err
	}
	plots := []pagePlot{{svg, "Executed instructions of each thread, all instances together:", []pageKey{{"work", "work"}}}}
	if timed {
		svg, err := barPlot(ids, "processor and waiting time of each thread", func(x float64) string { return units.SecondsOf(x, most) }, series{busy, busyColor}, series{wait, waitColor})
		if err != nil {
			return nil, err
		}
		plots = append(plots, pagePlot{svg, "Time of each thread, as measured:", []pageKey{{"busy", "on a processor"}, {"wait", "waiting for the last to arrive"}}})
	}
	if t := s.timeline(h.r.of); t != nil {
		svg, err := lanePlot(t, "timeline of the section's instances")
		if err != nil {
			return nil, err
		}
		plots = append(plots, pagePlot{svg, t.caption(), []pageKey{{"work", "up to its arrival"}, {"wait", "waiting for the last"}}})
	}
	return plots, nil
}

func (t *timeline) caption() string {
	c := "The instances one after the other"
	if t.together > 1 {
		c += fmt.Sprintf(", %d to a bar", t.together)
	}
	if t.left > 0 {
		c += fmt.Sprintf("; the first %s are not drawn, they were added up during the run", units.Count(uint64(t.left)))
	}
	return c + ":"
}

func printableWarnings(ws []Warning) []Warning {
	out := make([]Warning, len(ws))
	for i, w := range ws {
		out[i] = Warning{w.Code, printable(w.Message)}
	}
	return out
}
