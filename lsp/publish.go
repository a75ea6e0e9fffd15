package lsp

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
)

// Where the kinds of causes are explained.
const explained = "https://github.com/skewlens/skewlens/blob/main/lsp/README.md#"

// costs: from this part of its section's time on, a cause is a warning.
const costs = 0.05

// publish sends the diagnostics of every file for which they differ from what
// was sent last. The caller holds the lock, so no edit comes between what is
// computed and what is sent.
func (s *server) publish() {
	all := map[string][]diagnostic{}
	for _, r := range s.sorted() {
		for _, sec := range r.sections {
			for _, c := range s.shownCauses(sec) {
				if c.at == nil || s.rootOf(c.at.path) == nil && s.docs[c.at.path] == nil {
					continue
				}
				if t := s.textOf(c.at.path); t != nil {
					all[c.at.path] = append(all[c.at.path], s.diagnose(r, c, t))
				}
			}
		}
	}
	for path, ds := range s.built {
		all[path] = append(all[path], ds...)
	}
	for _, r := range s.roots {
		for path, ps := range s.refresh(r).problems {
			for _, p := range ps {
				all[path] = append(all[path], s.mistake(path, p))
			}
		}
	}
	for path := range s.published {
		if _, ok := all[path]; !ok {
			all[path] = []diagnostic{}
		}
	}
	for path, ds := range all {
		s.send(path, ds)
	}
	s.announceSoon()
}

func (s *server) send(path string, ds []diagnostic) {
	p := publishParams{URI: fileURI(path), Diagnostics: ds}
	if d := s.docs[path]; d != nil {
		p.URI = d.uri
	}
	data, err := json.Marshal(p)
	if err != nil {
		return
	}
	h := fnv.New64a()
	h.Write(data)
	last, ok := s.published[path]
	if len(ds) == 0 && !ok || ok && last == h.Sum64() {
		return
	}
	s.published[path] = h.Sum64()
	if len(ds) == 0 {
		delete(s.published, path)
	}
	if d := s.docs[path]; d != nil {
		p.Version = &d.version
	}
	s.tell("textDocument/publishDiagnostics", &p)
}

// diagnose is a cause as a diagnostic.
func (s *server) diagnose(r *result, c *causeMark, t *text) diagnostic {
	d := diagnostic{
		Range:           t.words(s.enc, c.at.now.line),
		Severity:        severityInformation,
		Code:            c.kind(),
		CodeDescription: &codeDescription{Href: explained + heading(c)},
		Source:          "skewlens",
		Message:         s.message(r, c),
		Data:            object{"target": r.Target, "section": c.section.ID, "rank": c.Rank},
	}
	if c.Gain != nil && c.Gain.Fraction >= costs && !c.section.Negligible {
		d.Severity = severityWarning
	}
	for _, n := range c.related {
		nt := s.textOf(n.at.path)
		if nt == nil {
			continue
		}
		d.Related = append(d.Related, related{location{URI: s.uriOf(n.at.path), Range: nt.words(s.enc, n.at.now.line)}, n.why})
	}
	return d
}

// message is all of a cause in two lines of text.
func (s *server) message(r *result, c *causeMark) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d · %s\n", c.Rank, c.Message)
	parts := []string{"section " + c.section.ID}
	if c.section.Imbalance != nil {
		parts = append(parts, "imbalance "+units.Percent(*c.section.Imbalance))
	}
	if c.Gain != nil {
		gain := "gain up to "
		if c.Gain.Seconds != nil {
			gain += units.Seconds(*c.Gain.Seconds) + " or "
		}
		parts = append(parts, gain+units.Percent(c.Gain.Fraction)+" of the section")
	}
	if c.Score != nil {
		parts = append(parts, fmt.Sprintf("score %.2f", *c.Score))
	}
	if w := r.staleness(); w != "" {
		parts = append(parts, w)
	}
	return b.String() + strings.Join(parts, " · ")
}

func heading(c *causeMark) string {
	switch k := c.kind(); k {
	case "branch", "loop", "recursion", "start":
		return k
	}
	return "event"
}

// mistake is a problem of a configuration file.
func (s *server) mistake(path string, p problem) diagnostic {
	t := s.textOf(path)
	if t == nil {
		t = newText("")
	}
	return diagnostic{Range: t.words(s.enc, p.at.line), Severity: p.severity, Source: "skewlens", Code: "configuration", Message: filepath.Base(path) + ": " + p.message}
}

func (s *server) uriOf(path string) docURI {
	if d := s.docs[path]; d != nil {
		return d.uri
	}
	return fileURI(path)
}
