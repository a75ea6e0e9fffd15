package words

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/report"
)

// Forecast says what is expected of a section at more threads; "" where nothing is.
func Forecast(s *report.Section) string {
	var at, today, best []string
	for _, f := range s.Forecast {
		at = append(at, fmt.Sprint(f.Threads))
		if f.Today != nil {
			today = append(today, times(*f.Today))
		}
		best = append(best, times(f.Best))
	}
	if len(at) < 2 {
		return ""
	}
	w := fmt.Sprintf("at %s threads: ", strings.Join(at, ", "))
	if len(today) == len(at) {
		w += strings.Join(today, ", ") + " as it is dealt, "
	}
	return w + strings.Join(best, ", ") + " at best (times as fast as one)"
}

func times(x float64) string {
	if x < 9.95 {
		return fmt.Sprintf("%.1f×", x)
	}
	return fmt.Sprintf("%.0f×", x)
}
