package lsp

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/report"
)

// Sections that are too short to matter are not called balanced: nobody looked.
func TestVerdictOfShortSections(t *testing.T) {
	short, long := &report.Section{Negligible: true}, &report.Section{}
	for want, sections := range map[string][]*results.Section{
		"p: 2 sections, too short to matter":  {{Section: short}, {Section: short}},
		"p: balanced (2 sections)":            {{Section: short}, {Section: long}},
		"p: work is balanced, waits, 1 cause": {{Section: long, Causes: []*results.Cause{{Cause: &report.Cause{}}}}},
	} {
		r := &results.Result{Kept: results.Kept{Target: "p", Report: &report.Report{}}, Sections: sections}
		if got := (&view{}).verdict(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A person reads the first complaint, without colours.
func TestHeard(t *testing.T) {
	for said, want := range map[string]string{
		"hello\n\x1b[91mERROR: No stream\x1b[0m\nusage: x": "ERROR: No stream|usage: x", "one\n\ntwo\nskewlens: cannot": "|two", "\xff\xfeusage": "usage|usage",
		strings.Repeat("no such ä", 40): strings.Repeat("no such ä", 20) + " …|" + strings.Repeat("no such ä", 20) + " …",
	} {
		h := heard{}
		for _, line := range strings.Split(said, "\n") {
			h.add(line)
		}
		if got := h.complaint + "|" + h.last; got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
