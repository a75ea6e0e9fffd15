package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"time"
)

func (s *server) shutdown(context.Context, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.stopping = true
	for r := range s.runs {
		r.cancel()
	}
	return nil, nil
}

func (s *server) exited(json.RawMessage) error {
	s.ended.Do(func() { close(s.exit) })
	return nil
}

// errNoShutdown: the protocol wants a status of 1 then, so that who started the
// server sees that something was cut off.
var errNoShutdown = errors.New("serve: the client said exit without shutdown")

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
