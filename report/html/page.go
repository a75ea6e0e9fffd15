package html

import (
	"html/template"

	"github.com/skewlens/skewlens/report"
)

// What the template shows. Numbers are text by then: "" is one that is not known.
type (
	page struct {
		Style                    template.CSS
		Command, Facts           string
		Warnings                 []report.Warning
		Sections                 []pageSection
		Brief                    []pageSection
		BriefTitle, SkippedTitle string
		Skipped                  []report.Skipped
		Path                     *pagePath
		Ranks                    *pageRanks
		MemoryFacts              string
		MemoryHead               []string
		Memory                   [][]string
		SizesFacts               string
		SizesPlots               []pagePlot
		Sizes                    []pageSizes
	}
	pageSizes struct {
		Cells []string
		Place string
	}
	pagePath struct {
		Facts    string
		Warnings []report.Warning
		Sayings  []string
		Numbers  []pageNumber
		Steps    [][]string
		More     string
	}
	pageSection struct {
		Anchor, ID, Title, Kind, Facts, Row     string
		Time, Imbalance, Waited, First, Verdict string
		Instances                               int
		Warnings                                []report.Warning
		Plots                                   []pagePlot
		Numbers                                 []pageNumber
		Threads                                 []pageThread
		MoreThreads                             string
		Causes                                  []pageCause
	}
	pagePlot struct {
		SVG     template.HTML
		Caption string
		Keys    []pageKey
		// The same several times as wide, with what does not move with it; empty where
		// that shows no more.
		Zoom          string
		Zoomed, Names template.HTML
	}
	pageKey    struct{ Class, Name string }
	pageNumber struct{ Name, Value, Means string }
	pageThread struct {
		ID, Instructions, Part, Busy, Wait string
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
		Href                                template.URL
	}
	pageExcerpt struct {
		Title string
		Lines []pageLine
		Stale *report.Warning
	}
	pageLine struct {
		Number int
		Text   string
		Hit    bool
		Href   template.URL
	}
	pageMember struct {
		Line, Function, Kind, Corr string
		Events                     int
		Href                       template.URL
	}
)
