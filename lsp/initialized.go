package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// initialized: what an editor waits for is answered, so now what takes longer.
func (s *server) initialized(json.RawMessage) error {
	v := s.view()
	if v.client.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		s.ask("client/registerCapability", protocol.RegistrationParams{Registrations: []protocol.Registration{{
			ID: "skewlens-files", Method: "workspace/didChangeWatchedFiles",
			RegisterOptions: protocol.DidChangeWatchedFilesRegistrationOptions{Watchers: []protocol.FileSystemWatcher{
				{GlobPattern: "**/" + workspace.ConfigName}, {GlobPattern: "**/" + workspace.LaunchName},
				{GlobPattern: "**/*.{c,h,cc,cpp,cxx,hpp,hh,hxx,rs,f,f90,f95,f03,f08,F90,go}"},
			}},
		}}})
	}
	s.configure()
	s.restore(v.space.Roots())
	s.publish()
	if len(s.view().results.All()) > 0 {
		s.refreshViews()
	}
	return nil
}
