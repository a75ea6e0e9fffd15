package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// comparisonJSON is the stable form of a comparison: fields are added, never renamed.
type comparisonJSON struct {
	Version  int        `json:"version"`
	Before   runJSON    `json:"before"`
	After    runJSON    `json:"after"`
	Changed  []string   `json:"changed"`
	Warnings []Warning  `json:"warnings"`
	Sections []pairJSON `json:"sections"`
}

type runJSON struct {
	Program Program `json:"program"`
	Run     Run     `json:"run"`
}

type pairJSON struct {
	Verdict Verdict      `json:"verdict"`
	Before  *sectionJSON `json:"before,omitempty"`
	After   *sectionJSON `json:"after,omitempty"`
}

type sectionJSON struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Location  *Location `json:"location,omitempty"`
	Imbalance *float64  `json:"imbalance,omitempty"`
	TimeS     *float64  `json:"time_s,omitempty"`
	Causes    int       `json:"causes"`
}

// WriteComparisonJSON writes a comparison in its stable form.
func WriteComparisonJSON(w io.Writer, c *Comparison) error {
	out := comparisonJSON{
		Version: Version, Before: runJSON{c.Before.Program, c.Before.Run}, After: runJSON{c.After.Program, c.After.Run},
		Changed: append([]string{}, c.Changed()...), Warnings: append([]Warning{}, c.Doubts()...), Sections: []pairJSON{},
	}
	side := func(s *Section) *sectionJSON {
		if s == nil {
			return nil
		}
		return &sectionJSON{s.ID, s.Kind, s.Location, s.Imbalance, s.TimeS, len(s.Causes)}
	}
	for _, p := range c.Sections {
		out.Sections = append(out.Sections, pairJSON{c.Verdict(p), side(p.Before), side(p.After)})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}
