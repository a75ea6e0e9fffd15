package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.lsp.dev/jsonrpc2"
)

func (s *server) initialize(_ context.Context, params json.RawMessage) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, invalid(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began {
		return nil, jsonrpc2.NewError(codeInvalidRequest, "initialize came twice")
	}
	s.began = true
	s.client = p.Capabilities
	s.enc = agree(p.Capabilities.General.PositionEncodings)
	var own struct {
		ResultsChanged bool `json:"resultsChanged"`
	}
	_ = json.Unmarshal(p.Options, &own) // absent, or another server's
	s.notify = own.ResultsChanged
	if p.ProcessID != nil {
		s.watch(*p.ProcessID)
	}
	switch {
	case p.WorkspaceFolders != nil:
		for _, f := range p.WorkspaceFolders {
			s.addRoot(f.URI)
		}
	case p.RootURI != nil:
		s.addRoot(*p.RootURI)
	case p.RootPath != nil && filepath.IsAbs(*p.RootPath):
		s.addRoot(fileURI(*p.RootPath))
	}
	return object{
		"serverInfo": object{"name": "skewlens", "version": s.opt.Version},
		"capabilities": object{
			"positionEncoding":       s.enc,
			"textDocumentSync":       object{"openClose": true, "change": 2, "save": object{"includeText": false}},
			"codeLensProvider":       object{"resolveProvider": false},
			"hoverProvider":          true,
			"inlayHintProvider":      object{"resolveProvider": false},
			"codeActionProvider":     object{"codeActionKinds": []string{"quickfix"}},
			"executeCommandProvider": object{"commands": commandNames(), "workDoneProgress": true},
			"workspace":              object{"workspaceFolders": object{"supported": true, "changeNotifications": true}},
		},
	}, nil
}

// clientTick is how often it is looked whether the client's process is there.
const clientTick = 3 * time.Second

// watch ends the server when its client's process is gone, for another process
// may have inherited its pipes and keep them open. A number that is nobody's
// from the beginning is of a client in another container, and says nothing.
func (s *server) watch(pid int) {
	client, err := os.FindProcess(pid)
	if pid <= 0 || err != nil {
		return
	}
	gone := func() bool { return errors.Is(client.Signal(syscall.Signal(0)), os.ErrProcessDone) }
	if gone() {
		return
	}
	go func() {
		tick := time.NewTicker(clientTick)
		defer tick.Stop()
		for !gone() {
			select {
			case <-tick.C:
			case <-s.over:
				return
			}
		}
		close(s.gone)
	}()
}

func (s *server) addRoot(u docURI) {
	path, ok := filePath(u)
	if !ok {
		return
	}
	for _, r := range s.roots {
		if r.path == path {
			*r = *newRoot(path) // it may have been found before
			return
		}
	}
	s.roots = append(s.roots, newRoot(path))
}

// initialized: what an editor waits for is answered, so now what takes longer.
func (s *server) initialized(json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		s.ask("client/registerCapability", object{"registrations": []object{{
			"id": "skewlens-files", "method": "workspace/didChangeWatchedFiles",
			"registerOptions": object{"watchers": []object{
				{"globPattern": "**/" + configName}, {"globPattern": "**/" + launchName},
			}},
		}}})
	}
	s.restore(s.roots)
	s.publish()
	if len(s.results) > 0 {
		s.refreshViews()
	}
	return nil
}

// restore takes up what was kept of earlier runs.
func (s *server) restore(roots []*root) {
	for _, r := range roots {
		for _, k := range s.saved.load(r.path) {
			res := s.newResult(k)
			if s.results[res.key()] == nil {
				s.results[res.key()] = res
			}
		}
	}
}

func (s *server) shutdown(context.Context, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for r := range s.runs {
		r.cancel()
	}
	return nil, nil
}

func (s *server) exited(json.RawMessage) error {
	s.ended.Do(func() { close(s.exit) })
	return nil
}

func (s *server) didChangeWorkspaceFolders(params json.RawMessage) error {
	var p struct {
		Event struct {
			Added   []folder `json:"added"`
			Removed []folder `json:"removed"`
		} `json:"event"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return invalid(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range p.Event.Removed {
		path, _ := filePath(f.URI)
		kept := s.roots[:0]
		for _, r := range s.roots {
			if r.path != path {
				kept = append(kept, r)
			}
		}
		s.roots = kept
		for k, r := range s.results {
			if r.Root == path {
				delete(s.results, k)
			}
		}
	}
	n := len(s.roots)
	for _, f := range p.Event.Added {
		s.addRoot(f.URI)
	}
	s.restore(s.roots[n:])
	s.publish()
	s.refreshViews()
	return nil
}

// didChangeWatchedFiles: a workspace says something else than before, or a
// file that is not open has changed.
func (s *server) didChangeWatchedFiles(json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.disk)
	s.publish()
	s.refreshViews()
	return nil
}

func (s *server) didChangeConfiguration(json.RawMessage) error {
	return s.didChangeWatchedFiles(nil)
}
