package lsp

import "encoding/json"

// didChangeWatchedFiles: a workspace says something else than before, or a
// file that is not open has changed. So it may be when the client's own
// configuration has.
func (s *server) didChangeWatchedFiles(json.RawMessage) error {
	s.disk.Forget()
	s.reread()
	s.configure()
	s.publish()
	s.refreshViews()
	return nil
}
