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
	s := &server{
		opt: Options{Now: func() time.Time { return noon }}, enc: utf16, saved: newStore(""), sites: newSiteCache(nil), web: &web{},
		docs: map[string]*document{}, disk: map[string]*text{}, results: map[string]*result{}, built: map[string][]diagnostic{},
		published: map[string]uint64{}, roots: []*root{newRoot(dir)}, began: true,
	}
	d := &document{uri: fileURI(path), path: path, language: "c", text: newText(src.String())}
	s.docs[path] = d
	rep := &report.Report{Version: 1}
	third := 0.33
	for i := range 100 {
		at := func(line int) *report.Location {
			return &report.Location{Place: report.Place{File: path, Line: line, Column: 9, Function: "work"}}
		}
		sec := report.Section{ID: fmt.Sprintf("big.c:%d", 50*i+50), Kind: "barrier", Location: at(50*i + 50), Instances: 9, Imbalance: &third}
		c := report.Cause{Rank: 1, Kind: "control-flow", Leader: "branch", Share: 0.9, Location: at(50*i + 41), Gain: &report.Gain{Fraction: 0.3}, Message: "message"}
		for t := range 16 {
			sec.Threads = append(sec.Threads, report.Thread{ID: t, Instructions: uint64(t) * 1e9, BusyS: &third, WaitS: &third})
			c.Counts = append(c.Counts, uint64(t))
		}
		for m := range 10 {
			c.Members = append(c.Members, report.Member{Kind: "control-flow", Place: at(50*i + m + 1).Place})
		}
		sec.Causes = []report.Cause{c}
		rep.Sections = append(rep.Sections, sec)
	}
	r := s.newResult(kept{Root: dir, Target: "big", Cwd: dir, When: noon, Report: rep})
	s.results[r.key()] = r
	params, _ := json.Marshal(object{"textDocument": object{"uri": fileURI(path)}, "position": position{Line: 40, Character: 9}})
	return s, params
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
		all := s.results
		s.results = map[string]*result{}
		defer func() { s.results = all }()
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
	s, _ := benchServer(b)
	var path string
	for path = range s.docs {
	}
	params, _ := json.Marshal(object{"textDocument": object{"uri": fileURI(path)}, "range": span{End: position{Line: 5000}}})
	measure(b, func(int) {
		v, err := s.inlayHint(context.Background(), params)
		answered(b, v, err)
	})
}

// An edit on top moves 100 findings and publishes all of them again.
func BenchmarkEdit(b *testing.B) {
	s, _ := benchServer(b)
	s.conn = nobody{}
	var path string
	for path = range s.docs {
	}
	measure(b, func(i int) {
		to, insert := position{}, "\n"
		if i%2 == 1 {
			to, insert = position{Line: 1}, ""
		}
		params, _ := json.Marshal(object{"textDocument": object{"uri": fileURI(path), "version": i}, "contentChanges": []object{{"range": span{End: to}, "text": insert}}})
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
