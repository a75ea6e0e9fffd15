package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

func (s *server) profileSection(ctx context.Context, c *call) (any, error) {
	return s.conduct(ctx, c, study{"Profiling", s.measure, true})
}

func (s *server) profileTarget(ctx context.Context, c *call) (any, error) {
	return s.conduct(ctx, c, study{"Profiling", s.measure, false})
}

// study is what is found out about a target.
type study struct {
	doing   string
	run     func(context.Context, Target, *view, *progress) (*results.Result, error) // once it is built of what is in view
	section bool                                                                     // it was asked for one
}

// conduct is what every study goes through, from the question what to run to the
// answer how it ended.
func (s *server) conduct(ctx context.Context, c *call, what study) (any, error) {
	v := s.view()
	v.forgotten(c)
	t, found := s.testAt(v, c, what.section)
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	own, done := s.enlist(cancel, c.token) // before the question what to run, which may be cancelled, too
	defer done()
	var err error
	var p *progress
	out := outcome{Message: "failed"}
	defer func() { // whatever happens, nobody looks at a bar for ever
		if p != nil {
			p.end(out.Message)
		}
	}()
	if !found {
		t, err = s.choose(v, c)
	}
	if errors.Is(err, errNoTarget) || err == nil && s.isOld(t, c) {
		title := what.doing
		if path, ok := workspace.FilePath(c.URI); ok {
			title += " " + filepath.Base(path)
		}
		p = s.begin(runCtx, c.token, title, own)
		p.report("looking for what could be run", -1) // in a large folder that takes long
		t, err = s.discover(runCtx, v, c)
	}
	if err == nil {
		err = s.view().unsaved(t)
	}
	if err != nil {
		out = s.ends(t, nil, err)
		return out, ctx.Err()
	}
	if p == nil {
		p = s.begin(runCtx, c.token, what.doing+" "+t.Name, own)
	}
	res, err := s.inTurn(runCtx, &t, p, what.run)
	if runCtx.Err() != nil {
		err = context.Canceled
	}
	if s.settle(t, res, err) && err != nil && s.view().answers && !errors.Is(err, errMistakes) {
		err = fmt.Errorf("%w · the next click asks what else to run", err)
	}
	out = s.ends(t, res, err)
	if what.section && res != nil {
		s.view().narrow(&out, res, c, v)
	}
	switch {
	case res == nil:
	case idle(res):
		s.empty(&out, t, res, c, p.heard)
	default:
		s.offerToKeep(t)
	}
	return out, ctx.Err() // of the request itself, when that was cancelled, as above
}

// idle reports whether no threads met: a program that was called wrongly, or that would
// do something with other arguments.
func idle(r *results.Result) bool { return r.Scaling == nil && len(r.Sections) == 0 }

// enlist has a run be cancelled by all that cancels runs, until it is done. It
// returns a token for its progress, for a client that chose none.
func (s *server) enlist(cancel context.CancelFunc, chosen json.RawMessage) (own string, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
	own = fmt.Sprintf("skewlens-%d", s.tokens)
	token, _ := json.Marshal(own)
	r := &run{cancel: cancel, tokens: []json.RawMessage{token}}
	if chosen != nil {
		r.tokens = append(r.tokens, chosen)
	}
	s.runs[r] = true
	if s.state.stopping {
		cancel()
	}
	return own, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.runs, r)
	}
}

// inTurn waits until no other run goes on, builds and runs. A panic is a run
// that failed, so that a person is told of it as of any other.
func (s *server) inTurn(ctx context.Context, t *Target, p *progress, run func(context.Context, Target, *view, *progress) (*results.Result, error)) (res *results.Result, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			s.log(protocol.MessageTypeError, fmt.Sprintf("panic: %v\n%s", bug, debug.Stack()))
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
	if err := s.view().unsaved(*t); err != nil {
		return nil, err
	}
	built := s.view() // documents as they are built; they may be edited meanwhile
	if *t, err = s.prepare(ctx, *t, p); err != nil {
		return nil, err
	}
	if res, err = run(ctx, *t, built, p); err != nil {
		err = p.heard.behind(err)
	}
	debug.FreeOSMemory() // a profile is large, and the server idles now
	return res, err
}

// measure profiles a target.
func (s *server) measure(ctx context.Context, t Target, v *view, p *progress) (*results.Result, error) {
	var before time.Duration
	if old := v.results.Of(t.Root, t.Name); old != nil {
		before = old.Took
	}
	start, keep := s.opt.Now(), chosen(t)
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
	if len(prof.Sections) == 0 {
		keep = nil
	}
	p.report("looking for causes", -1)
	rep, err := report.New(prof, report.Options{})
	if err != nil {
		return nil, err
	}
	return s.take(results.Kept{Root: t.Root, Target: t.Name, Cwd: t.Cwd, Program: t.Program, Chosen: keep, Took: took, Report: rep}, prof, v.space)
}

// chosen is a target that no file names, to be kept with what was found of it.
func chosen(t Target) *Target {
	if t.Source != "" {
		return nil
	}
	return &t
}

// maxLines of a target's output are logged.
const maxLines = 1000

func (s *server) listener(t Target, p *progress, before time.Duration) func(Progress) {
	lines := 0
	p.report("running "+filepath.Base(t.Program), -1)
	return func(g Progress) {
		if g.Output != "" {
			p.heard.add(g.Output)
			if lines++; lines <= maxLines {
				s.log(protocol.MessageTypeLog, t.Name+": "+g.Output)
			} else if lines == maxLines+1 {
				s.log(protocol.MessageTypeLog, t.Name+": (more output is not shown)")
			}
			return
		}
		message, percent := ticking(g.Elapsed, before)
		if g.Ranks != "" {
			message += ", " + g.Ranks
		}
		p.report(message, percent)
	}
}

// take makes a result of what was found out, and shows it. prof is the profile that
// it is of, nil for none; built is the workspace that the program was built from.
func (s *server) take(k results.Kept, prof *profile.Profile, built workspace.Workspace) (*results.Result, error) {
	s.disk.Forget()
	v := s.view()
	k.When = v.now
	ran := func(path string) *workspace.Document {
		if d := built.Open(path); d != nil {
			return d
		}
		return v.space.Open(path)
	}
	res := results.New(k, v.space,
		func(path string) *text.Text {
			if d := ran(path); d != nil {
				return d.Text
			}
			return v.space.Text(path)
		})
	res.Profile, res.Newer = prof, s.newer(v.binaries(k), res.Paths())
	res.Behind = len(res.Newer) > 0
	s.change(func(st *state) {
		res.Follows(st.results.Of(k.Root, k.Target))
		for _, path := range res.Paths() { // those that were edited meanwhile
			was, now := ran(path), st.space.Open(path)
			if now != nil && (was == nil || was.Text != now.Text) {
				res = res.Settled(path, now.Text)
			}
		}
		st.results, st.shown = st.results.With(res), ""
	})
	s.publish()
	s.reread() // so that it is known how files are now
	if err := s.keep(k.Root, k.Target); err != nil {
		s.log(protocol.MessageTypeWarning, "the result will be gone after a restart: "+wire.OneLine(err.Error()))
	}
	s.refreshViews()
	return res, nil
}

// binaries are the files that the code of a result's target is in, as far as they are named.
func (v *view) binaries(k results.Kept) []string {
	all := []string{k.Program}
	for _, t := range v.space.Targets() {
		if t.Root != k.Root || t.Name != k.Target {
			continue
		}
		for _, l := range t.Lib {
			if !filepath.IsAbs(l) {
				l = filepath.Join(t.Cwd, l)
			}
			all = append(all, l)
		}
	}
	return all
}

// newer are the files that were changed after a program, and its libraries that are known,
// were made of them: its lines are not theirs.
func (s *server) newer(programs []string, paths []string) map[string]bool {
	var made time.Time
	for _, program := range programs {
		if info, err := s.disk.Stat(program); err == nil && info.ModTime().After(made) {
			made = info.ModTime()
		}
	}
	if made.IsZero() {
		return nil
	}
	out := map[string]bool{}
	for _, path := range paths {
		if f, err := s.disk.Stat(path); err == nil && f.ModTime().After(made) {
			out[path] = true
		}
	}
	return out
}
