package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// outcome is how a run ended: exactly one of completed, failed, cancelled.
type outcome struct {
	Outcome   string   `json:"outcome"`
	Message   string   `json:"message"`
	Target    string   `json:"target,omitempty"`
	Imbalance *float64 `json:"imbalance,omitempty"`
	Causes    int      `json:"causes"`
}

func (s *server) profileSection(ctx context.Context, c *call) (any, error) {
	return s.profile(ctx, c, true)
}

func (s *server) profileTarget(ctx context.Context, c *call) (any, error) {
	return s.profile(ctx, c, false)
}

// profile is what every run goes through, from the question what to run to the
// answer how it ended.
func (s *server) profile(ctx context.Context, c *call, section bool) (any, error) {
	s.mu.Lock()
	t, err := s.choose(c)
	if err == nil {
		err = s.unsaved(t)
	}
	s.tokens++
	own := fmt.Sprintf("skewlens-%d", s.tokens)
	s.mu.Unlock()
	if err != nil {
		return s.ends(t, nil, err), nil
	}
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	ownToken, _ := json.Marshal(own)
	r := &run{cancel: cancel, tokens: []json.RawMessage{ownToken}}
	if c.token != nil {
		r.tokens = append(r.tokens, c.token)
	}
	s.mu.Lock()
	if s.stopping {
		cancel()
	}
	s.runs[r] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.runs, r)
		s.mu.Unlock()
	}()
	p := s.begin(runCtx, c.token, "Profiling "+t.Name, own)
	out := outcome{Message: "failed"}
	defer func() { p.end(out.Message) }() // whatever happens, nobody looks at a bar for ever
	res, err := s.inTurn(runCtx, t, p)
	if runCtx.Err() != nil {
		err = context.Canceled
	}
	out = s.ends(t, res, err)
	if section && res != nil {
		s.mu.Lock()
		s.narrow(&out, res, c)
		s.mu.Unlock()
	}
	return out, ctx.Err() // of the request itself, when that was cancelled
}

// ends words the end of a run, and shows a failure.
func (s *server) ends(t Target, res *result, err error) outcome {
	out := outcome{Target: t.Name}
	switch {
	case errors.Is(err, context.Canceled):
		out.Outcome, out.Message = "cancelled", "cancelled"
	case err != nil:
		out.Outcome, out.Message = "failed", oneLine(err.Error())
		kind := typeError
		if errors.Is(err, errUnsaved) { // nothing is wrong yet
			kind = typeWarning
		}
		s.show(kind, "skewlens: "+out.Message)
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		out.Outcome, out.Message = "completed", s.summary(res)
		worst, _ := res.Report.Worst()
		out.Imbalance = &worst
		for _, sec := range res.sections {
			out.Causes += len(s.shownCauses(sec))
		}
	}
	return out
}

// narrow words the outcome for the section that was asked for: the one on the
// line, for the section's name may be of an older run, and another's by now.
func (s *server) narrow(out *outcome, res *result, c *call) {
	path, _ := filePath(c.URI)
	var asked *sectionMark
	for _, sec := range res.sections {
		if c.Line != nil && sec.at != nil && sec.at.path == path && sec.at.now.line == *c.Line {
			asked = sec
			break
		}
		if asked == nil && c.Section != "" && sec.ID == c.Section {
			asked = sec
		}
	}
	if asked != nil {
		out.Message = asked.ID + ": " + s.title(res, asked)
		out.Imbalance, out.Causes = asked.Imbalance, len(s.shownCauses(asked))
		return
	}
	if c.Section != "" || c.Line != nil {
		out.Message += " (no threads met at the place that was asked for)"
	}
}

var errUnsaved = errors.New("save first, the program would not be what you see")

// unsaved refuses a run while the program could not be what is seen.
func (s *server) unsaved(t Target) error {
	var names []string
	for _, d := range s.docs {
		if d.path == "" || !within(d.path, t.Root) || !compiled(d) {
			continue
		}
		data, err := readBounded(d.path, maxSource)
		if err != nil && !errors.Is(err, os.ErrNotExist) || err == nil && string(data) == d.text.s {
			continue
		}
		rel, err := filepath.Rel(t.Root, d.path)
		if err != nil {
			rel = d.path
		}
		names = append(names, rel)
	}
	if len(names) == 0 {
		return nil
	}
	sort.Strings(names)
	return fmt.Errorf("%w: %s", errUnsaved, strings.Join(names, ", "))
}

// compiled: editing it changes a program.
func compiled(d *document) bool {
	return languageOf(d.language, d.path) != "" || filepath.Ext(d.path) == ".go"
}

// inTurn waits until no other run goes on, builds and runs. A panic is a run
// that failed, so that a person is told of it as of any other.
func (s *server) inTurn(ctx context.Context, t Target, p *progress) (res *result, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			s.log(typeError, fmt.Sprintf("panic: %v\n%s", bug, debug.Stack()))
			res, err = nil, fmt.Errorf("profiling %s failed by a bug of skewlens: %v", t.Name, bug)
		}
	}()
	select {
	case <-s.turn:
	default:
		p.report("waiting for another run", -1)
		select {
		case <-s.turn:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() { s.turn <- struct{}{} }()
	s.mu.Lock()
	err = s.unsaved(t)
	seen := map[string]*text{} // as they are built; they may be edited meanwhile
	for _, d := range s.docs {
		if d.path != "" {
			seen[d.path] = d.text
		}
	}
	var before time.Duration
	if old := s.results[(&result{kept: kept{Root: t.Root, Target: t.Name}}).key()]; old != nil {
		before = old.Took
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := s.build(ctx, t, p); err != nil {
		return nil, err
	}
	start := s.opt.Now()
	prof, err := s.opt.Runner.Profile(ctx, t, s.listener(t, p, before))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if prof == nil {
		if err == nil {
			err = errors.New("the run brought no profile")
		}
		return nil, err
	}
	took := s.opt.Now().Sub(start)
	p.report("looking for causes", -1)
	res, err = s.take(t, prof, seen, took)
	debug.FreeOSMemory() // a profile is large, and the server idles now
	return res, err
}

// maxLines of a target's output are logged.
const maxLines = 1000

func (s *server) listener(t Target, p *progress, before time.Duration) func(Progress) {
	lines := 0
	p.report("running "+filepath.Base(t.Program), -1)
	return func(g Progress) {
		if g.Output != "" {
			if lines++; lines <= maxLines {
				s.log(typeLog, t.Name+": "+g.Output)
			} else if lines == maxLines+1 {
				s.log(typeLog, t.Name+": (more output is not shown)")
			}
			return
		}
		message, percent := ticking(g.Elapsed, before)
		p.report(message, percent)
	}
}

// take makes a result of a profile and shows it.
func (s *server) take(t Target, prof *profile.Profile, seen map[string]*text, took time.Duration) (*result, error) {
	rep, err := report.New(prof, report.Options{})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := kept{Root: t.Root, Target: t.Name, Cwd: t.Cwd, Program: t.Program, When: s.opt.Now(), Took: took, Report: rep}
	clear(s.disk)
	s.seen = seen
	res := s.newResult(k)
	res.profile = prof
	s.seen = nil
	for path, text := range seen {
		if d := s.docs[path]; d != nil && d.text != text && res.files[path] != nil {
			res.files[path].edited = true
			res.settle(path, d.text)
		}
	}
	if info, err := os.Stat(t.Program); err == nil {
		for path := range res.files {
			if f, err := os.Stat(path); err == nil && f.ModTime().After(info.ModTime()) {
				res.Behind = true
			}
		}
	}
	if old := s.results[res.key()]; old != nil {
		res.Before = old.Report
	}
	s.results[res.key()] = res
	s.shown = ""
	s.publish()
	if err := s.saved.save(res); err != nil {
		s.log(typeWarning, "the result will be gone after a restart: "+oneLine(err.Error()))
	}
	s.refreshViews()
	return res, nil
}
