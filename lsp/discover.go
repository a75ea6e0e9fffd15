package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/discover"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// discover finds what a command means where nobody has said what to run: what is
// found is offered to a person, unless there is only one. Files are read for it.
func (s *server) discover(ctx context.Context, v *view, c *call) (Target, error) {
	path, _ := workspace.FilePath(c.URI)
	if c.URI == "" {
		path, _ = workspace.FilePath(v.recent)
	}
	root := v.space.Root(path)
	if path == "" && len(v.space.Roots()) > 0 {
		root = v.space.Roots()[0]
	}
	home := ""
	switch {
	case path == "":
	case root == nil:
		home = s.finder.Home(path)
	default:
		home = s.finder.Above(root.Path, path)
	}
	if home != "" {
		root = workspace.NewRoot(s.disk, home)
		root.Adopted = true
		s.change(func(st *state) { st.space = st.space.WithRoot(root) })
	}
	if root == nil {
		return Target{}, v.noTarget()
	}
	found := s.finder.Find(root.Path, path)
	if len(found) == 0 {
		return s.nothingFound(ctx, v, root.Path, path)
	}
	stuck := s.isStuck(root.Path)
	if stuck {
		found = append(found, s.finder.Presets(root.Path, path)...)
	}
	if v.answers && (len(found) > 1 || stuck) {
		found = append(found[:min(len(found), maxOffered-1)], discover.Candidate{Label: "another command …", Why: "typed as in a terminal"})
	}
	chosen, err := s.pickOne(ctx, "What is to be profiled?", found)
	if err != nil {
		return Target{}, err
	}
	t := s.named(chosen.Target, path)
	if t.Root == "" {
		return s.askCommand(ctx, path, "What is to be run?", example(path), Target{Root: root.Path})
	}
	if err := s.askArguments(ctx, chosen, &t); err != nil {
		return Target{}, err
	}
	if t.Program != "" {
		s.change(func(st *state) { st.space = st.space.WithChosen(t) })
	}
	return t, nil
}

// named is what a person chose for a file, by a name that nothing else in its folder has:
// results are kept by that, and a folder may hold many projects, each with its "main".
func (s *server) named(t Target, path string) Target {
	t.For = path
	for _, o := range s.view().space.Targets() {
		if o.Root == t.Root && o.Name == t.Name && t.Program != "" && o.Program != t.Program {
			t.Name = relativeTo(t.Root, t.Program)
			break
		}
	}
	return t
}

// isStuck reports whether what was found in a folder came to nothing last: then a person is
// asked, though there be one possibility.
func (s *server) isStuck(root string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stuck[root]
}

// settle remembers whether a target that nobody wrote down came to something; of one that
// did not, the next click asks again, which it reports. Mistakes in the sources of what went well before are
// mended there.
func (s *server) settle(t Target, res *results.Result, err error) (again bool) {
	if t.Source != "" || errors.Is(err, context.Canceled) || errors.Is(err, errUnsaved) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, errMistakes) && s.state.results.Of(t.Root, t.Name) != nil {
		return false
	}
	nothing := err != nil || idle(res)
	if nothing {
		s.state.space = s.state.space.WithoutChosen(t)
	}
	s.stuck[t.Root] = nothing && (err != nil || res.Report.Run.ExitCode == 0) // else it says that its arguments are wrong
	return nothing
}

// askArguments asks for a program's arguments, if its source looks at any.
func (s *server) askArguments(ctx context.Context, chosen discover.Candidate, t *Target) error {
	if !chosen.Asks {
		return nil
	}
	line, said := s.words(ctx, "Arguments of "+chosen.Label, "Enter: none · {threads} stands for 8 threads")
	if !said {
		return context.Canceled
	}
	return t.TakeArguments(line)
}

// maxOffered of what could be run is offered at once.
const maxOffered = 50

// pickOne asks which of several is meant.
func (s *server) pickOne(ctx context.Context, title string, found []discover.Candidate) (discover.Candidate, error) {
	found = found[:min(len(found), maxOffered)]
	if !s.view().answers { // nothing is built from the beginning that nobody chose
		found = slices.DeleteFunc(slices.Clone(found), func(c discover.Candidate) bool { return c.First != "" })
	}
	items := make([]choice, len(found))
	for i, c := range found {
		items[i] = choice{c.Label, c.Why}
		if command := cmp.Or(c.First, c.Build); command != "" {
			items[i].Description += " · " + command
		}
	}
	n := 0
	if len(found) > 1 {
		var chosen bool
		if n, chosen = s.question(ctx, title, items); !chosen {
			return discover.Candidate{}, context.Canceled
		}
	}
	return found[n], nil
}

// offerToKeep offers to write down what was chosen: once for a target.
func (s *server) offerToKeep(t Target) {
	if t.Source != "" {
		return // it is written down
	}
	s.mu.Lock()
	asked := s.offered[t.Root+"\x00"+t.Name]
	s.offered[t.Root+"\x00"+t.Name] = true
	s.mu.Unlock()
	if asked {
		return
	}
	go func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-s.over:
				cancel()
			case <-ctx.Done():
			}
		}()
		how := relativeTo(t.Root, t.Program)
		if t.Build != "" {
			how += ", built by “" + t.Build + "”"
		}
		if !s.offer(ctx, "skewlens profiled "+how+". Keep that in "+workspace.ConfigName+", where it can be changed?", "Write "+workspace.ConfigName) {
			return
		}
		if _, err := s.writeDown(t); err != nil {
			s.show(protocol.MessageTypeError, "skewlens: "+wire.OneLine(err.Error()))
		}
	}()
}

// remember is skewlens.remember: it writes down what was chosen to be run of a
// file, which is asked for where it was not yet.
func (s *server) remember(ctx context.Context, c *call) (any, error) {
	v := s.view()
	t, err := s.choose(v, c)
	if errors.Is(err, errNoTarget) {
		t, err = s.discover(ctx, v, c)
	}
	switch {
	case err != nil:
		return nil, err
	case t.Source != "":
		return wire.Object{"uri": v.space.URI(t.Source), "target": t.Name}, nil
	case t.Program == "":
		return nil, fmt.Errorf("what “%s” makes is not known before it was run: profile it first", t.Build)
	}
	path, err := s.writeDown(t)
	if err != nil {
		return nil, err
	}
	return wire.Object{"uri": workspace.FileURI(path), "target": t.Name}, nil
}

// writeDown adds a target to its folder's configuration: a person has asked for it.
func (s *server) writeDown(t Target) (path string, err error) {
	path = filepath.Join(t.Root, workspace.ConfigName)
	if d := s.view().space.Open(path); d != nil && d.Text.String() != "" {
		return "", fmt.Errorf("%s is open: add these lines there: %s", workspace.ConfigName, wire.OneLine(t.TOML()))
	}
	s.disk.Uses("write", path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return "", fmt.Errorf("%w: add these lines where it can be written: %s", err, wire.OneLine(t.TOML()))
	}
	text, before := t.TOML(), int64(0)
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		text, before = "\n"+text, info.Size()
	}
	_, err = f.WriteString(text)
	if err = cmp.Or(err, f.Close()); err != nil {
		undo(path, before)
		return "", fmt.Errorf("%w: %s is as it was; make room there", err, workspace.ConfigName) // it names the file
	}
	s.upToDate()
	s.refresh()
	return path, nil
}

// undo takes away what was written of a file that cannot be written whole: half a
// configuration is a mistake, and an empty one would hide that there is none.
func undo(path string, before int64) {
	if before == 0 {
		_ = os.Remove(path)
		return
	}
	_ = os.Truncate(path, before)
}

func relativeTo(dir, path string) string {
	if r, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(r, "../") {
		return r
	}
	return path
}
