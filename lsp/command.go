package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"

	"go.lsp.dev/jsonrpc2"
)

// call is one command as a client sent it.
type call struct {
	arguments
	token json.RawMessage // of progress, chosen by the client; nil: none
}

var commands map[string]func(*server, context.Context, *call) (any, error)

func init() {
	commands = map[string]func(*server, context.Context, *call) (any, error){
		"skewlens.profileSection": (*server).profileSection,
		"skewlens.profileTarget":  (*server).profileTarget,
		"skewlens.cancel":         (*server).cancelAll,
		"skewlens.nextCause":      (*server).nextCause,
		"skewlens.causes":         (*server).causes,
		"skewlens.openReport":     (*server).openReport,
		"skewlens.compare":        (*server).compare,
		"skewlens.clear":          (*server).clear,
		"skewlens.targets":        (*server).listTargets,
	}
}

func commandNames() []string {
	names := make([]string, 0, len(commands))
	for n := range commands {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func (s *server) executeCommand(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		Command   string            `json:"command"`
		Arguments []json.RawMessage `json:"arguments"`
		Token     json.RawMessage   `json:"workDoneToken"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, invalid(err)
	}
	f, ok := commands[p.Command]
	if !ok {
		return nil, jsonrpc2.NewError(codeInvalidParams, fmt.Sprintf("no command is called %.100q", p.Command))
	}
	c := &call{token: p.Token}
	if string(c.token) == "null" {
		c.token = nil
	}
	if len(p.Arguments) > 0 {
		if err := json.Unmarshal(p.Arguments[0], &c.arguments); err != nil {
			return nil, invalid(err)
		}
	}
	return f(s, ctx, c)
}

// choose finds the target that a command means. Clients may say nothing.
func (s *server) choose(c *call) (Target, error) {
	all := s.targets()
	path, _ := filePath(c.URI)
	if c.URI == "" {
		path, _ = filePath(s.recent)
	}
	root := s.rootOf(path)
	if c.Target != "" {
		var found *Target
		for i := range all {
			if all[i].Name == c.Target && (found == nil || root != nil && all[i].Root == root.path) {
				found = &all[i]
			}
		}
		if found == nil {
			return Target{}, fmt.Errorf("no target is called %q: add it to %s", c.Target, configName)
		}
		return *found, nil
	}
	for _, r := range s.sorted() { // the one that is known to be made of this file
		for _, t := range all {
			if r.files[path] != nil && t.Name == r.Target && t.Root == r.Root {
				return t, nil
			}
		}
	}
	if d := s.docs[path]; d != nil {
		for _, t := range all {
			if p, ok := s.sites.peek(t.Program); ok && p.holds(s, t, path) {
				return t, nil
			}
		}
	}
	for _, t := range all {
		if root != nil && t.Root == root.path {
			return t, nil
		}
	}
	if len(all) > 0 {
		return all[0], nil
	}
	return Target{}, s.noTarget()
}

// noTarget says how to say what to run.
func (s *server) noTarget() error {
	for _, r := range s.roots {
		for path := range s.refresh(r).problems {
			return fmt.Errorf("no target is configured, for %s has mistakes: see its diagnostics", path)
		}
	}
	where := "the workspace folder"
	if len(s.roots) > 0 {
		where = s.roots[0].path
	} else if path, ok := filePath(s.recent); ok {
		where = filepath.Dir(path)
	}
	return fmt.Errorf("what to run is not known yet. Put a file %s into %s with these lines: [[target]], program = \"path of the program\", and, if you like, "+
		"build = \"command\", args = [\"…\"], threads = 8", configName, where)
}

func (s *server) listTargets(context.Context, *call) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []object{}
	for _, t := range s.targets() {
		args := t.Args
		if args == nil {
			args = []string{}
		}
		out = append(out, object{"name": t.Name, "root": t.Root, "program": t.Program, "args": args, "threads": t.Threads, "build": t.Build, "source": t.Source})
	}
	return out, nil
}

// clear forgets results, also those on disk.
func (s *server) clear(_ context.Context, c *call) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for k, r := range s.results {
		if c.Target == "" || r.Target == c.Target {
			delete(s.results, k)
			s.saved.remove(r)
			n++
		}
	}
	clear(s.built)
	s.shown = ""
	s.publish()
	s.refreshViews()
	return object{"cleared": n}, nil
}
