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
		first, last := h.said()
		if got := first + "|" + last; got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A program that prints much is not made to wait: what it says behind the lines that are
// logged is kept as it is, and only its end is read.
func TestHeardOfMuch(t *testing.T) {
	h := heard{}
	for range maxLines {
		h.add("round done")
	}
	if n := testing.AllocsPerRun(100, func() { h.add("\x1b[31mround done\x1b[0m") }); n > 0 {
		t.Errorf("a line behind those that are logged is worked on, and allocates %v times", n)
	}
	h.add("fatal: no memory")
	h.add("bye")
	if first, last := h.said(); first != "fatal: no memory" || last != "bye" {
		t.Errorf("it said %q and %q", first, last)
	}
}
