package html

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

var (
	//go:embed compare.tmpl
	comparisonText     string
	comparisonTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("comparison").Parse(comparisonText))
	})
)

// comparisonPage is what the template shows.
type comparisonPage struct {
	Style   template.CSS
	Command string
	Runs    [][2]string
	Rows    [][]string // the first is the head
}

// WriteComparison writes two runs side by side as a page. An error is the writer's.
func WriteComparison(w io.Writer, c *report.Comparison, opt Options) error {
	paths := words.Paths{Dir: opt.Dir}
	p := comparisonPage{template.CSS(pageStyle), paths.Command(c.After), words.Runs(c), words.Compared(c)}
	if err := comparisonTemplate().Execute(w, p); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}
