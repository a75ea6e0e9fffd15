package words

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report"
)

func number(x float64) *float64 { return &x }

// TestCriticalPathInWords: no more is named than fits, and what is little is not.
func TestCriticalPathInWords(t *testing.T) {
	at := &report.Location{Place: report.Place{File: "/src/a.c", Line: 7}}
	r := &report.Report{Run: report.Run{WallS: number(2)}, CriticalPath: &report.CriticalPath{
		Seconds: 1, WorkS: 3, Parallelism: 3, OutsideS: .1,
		Waits:  []report.Wait{{Kind: "lock", Seconds: .2, Location: at}, {Kind: "io", Seconds: .1}, {Kind: "sleep", Seconds: .05}, {Kind: "fault", Seconds: .01}},
		Handed: []report.Handed{{Kind: "lock", Location: at, Times: 9}, {Kind: "condition", Times: 1}, {Kind: "lock", Times: 1}, {Kind: "lock", Times: 1}},
		Lines:  []report.PathLine{{Location: at, Share: .5}, {Location: at, Share: .2}, {Location: at, Share: .1}, {Location: at, Share: .1}},
		Slack:  []report.LineSlack{{Location: at, SlackS: .25}, {Location: at, SlackS: .2}, {Location: at, SlackS: .15}, {Location: at, SlackS: .1}},
		WhatIf: []report.PathIf{{Section: "b", Cause: at, Seconds: .8, SavedS: .2, Gain: &report.Gain{Seconds: number(.4)}}, {Section: "c", Cause: at, Seconds: .9999, SavedS: .0001}},
	}}
	for i := range 6 {
		r.Sections = append(r.Sections, report.Section{ID: string(rune('a' + i)), OnPath: &report.OnPath{Share: .2, Seconds: .2, SlackS: .3}})
	}
	r.Sections[5].OnPath = nil
	for _, c := range []struct{ got, want string }{
		{strings.Join(CriticalPath(r), Dot), "critical path 1.00 s of the run's 2.00 s · work 3.00 s · parallelism 3"},
		{strings.Join(OnPath(r), Dot), "20 % a · 20 % b · 20 % c · 2 more sections · 10 % between sections · waits 0.20 s for the lock at a.c:7 · waits 0.10 s for input or output at an unknown place · waits 0.05 s asleep at an unknown place"},
		{Handed(r.CriticalPath), "it goes from a thread to one that waits for it 9× for the lock at a.c:7, 1× at an unknown place (condition), 1× for the lock at an unknown place"},
		{PathLines(r.CriticalPath), "its lines, about, by their instructions: 50 % a.c:7 · 20 % a.c:7 · 10 % a.c:7"},
		{strings.Join(PathIfs(r.CriticalPath), Dot), "if a.c:7 (#1 of b) were balanced: up to 0.20 s less, 0.80 s; as this run was: up to 400 ms less"},
		{SlackLines(r.CriticalPath), "lines that are nowhere on it, and by how much what a thread does there may take longer: a.c:7 0.25 s · a.c:7 0.20 s · a.c:7 0.15 s"},
		{Slack(r), "may take longer before the run does: a 0.30 s · b 0.30 s · c 0.30 s"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	r.CriticalPath.AtMostS = number(1.5)
	if got := strings.Join(CriticalPath(r), Dot); got != "critical path 1.00 s to 1.50 s of the run's 2.00 s · work 3.00 s · parallelism 2 to 3" {
		t.Error(got)
	}
	r.CriticalPath.AtLeast, r.CriticalPath.AtMostS = true, nil
	if got := strings.Join(CriticalPath(r), Dot); got != "critical path at least 1.00 s of the run's 2.00 s · work 3.00 s · parallelism at most 3" {
		t.Error(got)
	}
	r.CriticalPath.AtLeast = false
	r.CriticalPath.AtMostS, r.CriticalPath.FromS = nil, number(.5)
	if got := CriticalPath(r)[0]; got != "critical path 1.00 s from 500 ms on" {
		t.Error(got)
	}
	if none := (&report.CriticalPath{}); Handed(none) != "" || PathLines(none) != "" || SlackLines(none) != "" || Slack(&report.Report{CriticalPath: none}) != "" {
		t.Error("words about nothing")
	}
}
