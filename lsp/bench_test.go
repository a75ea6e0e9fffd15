package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
)

// What an editor waits for, without the pipe: one file of 5,000 lines with a
// section every 50 lines, a program of as many sections, and a result for all.

func benchServer(b testing.TB) (*server, json.RawMessage) {
	b.Helper()
	dir := b.TempDir()
	var src strings.Builder
	for i := range 5000 {
		switch {
		case i%50 == 49:
			src.WriteString("    pthread_barrier_wait(&barriers[round]); /* 🙂 */\n")
		case i%50 == 40:
			src.WriteString("        if (owner(i, j) == me->id)\n")
		default:
			fmt.Fprintf(&src, "        sum += table[%d] / scale * (double)weights[i + %d];\n", i, i%7)
		}
	}
	path := filepath.Join(dir, "big.c")
	s := newServer(Options{Now: func() time.Time { return noon }})
	root := workspace.NewRoot(s.disk, dir)
	d := workspace.NewDocument(protocol.TextDocumentItem{URI: workspace.FileURI(path), LanguageID: "c", Text: src.String()})
	s.state.began, s.state.space = true, s.state.space.WithRoot(root).WithDocument(d)
	s.configure()
	rep := &report.Report{Version: 1}
	third := 0.33
	for i := range 100 {
		at := func(line int) *report.Location {
			return &report.Location{Place: report.Place{File: path, Line: line, Column: 9, Function: "work"}}
		}
		sec := report.Section{ID: fmt.Sprintf("big.c:%d", 50*i+50), Kind: "barrier", Location: at(50*i + 50), Instances: 9, Imbalance: &third}
		c := report.Cause{Rank: 1, Kind: "control-flow", Leader: "branch", Share: 0.9, Location: at(50*i + 41), Gain: &report.Gain{Fraction: 0.3}, Message: "message"}
		for t := range 16 {
			sec.Threads = append(sec.Threads, report.Thread{Slot: t + 1, ID: &t, Instructions: uint64(t) * 1e9, BusyS: &third, WaitS: &third})
			c.Counts = append(c.Counts, uint64(t))
		}
		for m := range 10 {
			c.Members = append(c.Members, report.Member{Kind: "control-flow", Place: at(50*i + m + 1).Place})
		}
		sec.Causes = []report.Cause{c}
		rep.Sections = append(rep.Sections, sec)
	}
	r := results.New(results.Kept{Root: dir, Target: "big", Cwd: dir, When: noon, Report: rep}, s.state.space, s.state.space.Text)
	s.state.results = s.state.results.With(r)
	params, _ := json.Marshal(wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path)}, "position": protocol.Position{Line: 40, Character: 9}})
	return s, params
}

// only is the document that parameters are of.
func only(params json.RawMessage) protocol.DocumentURI {
	var p protocol.HoverParams
	_ = json.Unmarshal(params, &p)
	return p.TextDocument.URI
}

// measure reports the 99th percentile beside the mean.
func measure(b *testing.B, f func(i int)) {
	b.Helper()
	var each []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		f(i)
		each = append(each, time.Since(start))
	}
	sort.Slice(each, func(i, j int) bool { return each[i] < each[j] })
	b.ReportMetric(float64(each[len(each)*99/100].Microseconds())/1000, "p99-ms")
}

func answered(b *testing.B, v any, err error) {
	data, e := json.Marshal(v)
	if err != nil || e != nil || len(data) < 100 {
		b.Fatalf("%.200s, %v, %v", data, err, e)
	}
}

func BenchmarkLenses(b *testing.B) {
	s, params := benchServer(b)
	b.Run("before-a-run", func(b *testing.B) {
		all := s.state.results
		s.state.results = results.Set{}
		defer func() { s.state.results = all }()
		measure(b, func(int) {
			v, err := s.codeLens(context.Background(), params)
			answered(b, v, err)
		})
	})
	b.Run("after-a-run", func(b *testing.B) {
		measure(b, func(int) {
			v, err := s.codeLens(context.Background(), params)
			answered(b, v, err)
		})
	})
}

func BenchmarkHover(b *testing.B) {
	s, params := benchServer(b)
	measure(b, func(int) {
		v, err := s.hover(context.Background(), params)
		answered(b, v, err)
	})
}

func BenchmarkInlayHints(b *testing.B) {
	s, doc := benchServer(b)
	uri := only(doc)
	params, _ := json.Marshal(wire.Object{"textDocument": wire.Object{"uri": uri}, "range": protocol.Range{End: protocol.Position{Line: 5000}}})
	measure(b, func(int) {
		v, err := s.inlayHint(context.Background(), params)
		answered(b, v, err)
	})
}

// An edit on top moves 100 findings and publishes all of them again.
func BenchmarkEdit(b *testing.B) {
	s, doc := benchServer(b)
	s.conn = nobody{}
	uri := only(doc)
	measure(b, func(i int) {
		to, insert := protocol.Position{}, "\n"
		if i%2 == 1 {
			to, insert = protocol.Position{Line: 1}, ""
		}
		params, _ := json.Marshal(wire.Object{"textDocument": wire.Object{"uri": uri, "version": i}, "contentChanges": []wire.Object{{"range": protocol.Range{End: to}, "text": insert}}})
		if err := s.didChange(params); err != nil {
			b.Fatal(err)
		}
	})
}

// nobody is a client that takes everything and answers nothing.
type nobody struct{ jsonrpc2.Conn }

func (nobody) Notify(_ context.Context, _ string, params any) error {
	_, err := json.Marshal(params)
	return err
}
