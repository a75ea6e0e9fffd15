package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// progress tells a client how far a run is; where the client cannot show it,
// it tells nobody.
type progress struct {
	s     *server
	token json.RawMessage // nil: nobody listens
	last  int             // percentage, which must not go back
	heard heard           // of the program that runs
}

// begin starts a progress with the client's token, or one of ours.
func (s *server) begin(ctx context.Context, token json.RawMessage, title string, own string) *progress {
	p := &progress{s: s, token: token}
	if token == nil && s.view().client.Window.WorkDoneProgress {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		ask := &protocol.WorkDoneProgressCreateParams{Token: *protocol.NewProgressToken(own)} // by value its token is {}
		if _, err := s.conn.Call(ctx, "window/workDoneProgress/create", ask, nil); err == nil {
			p.token, _ = json.Marshal(own)
		}
	}
	p.send(protocol.WorkDoneProgressBegin{Kind: protocol.WorkDoneProgressKindBegin, Title: title, Cancellable: true})
	return p
}

func (p *progress) send(value any) {
	if p.token != nil {
		p.s.tell("$/progress", wire.ProgressParams{Token: p.token, Value: value})
	}
}

// report says what happens now; percent < 0: nobody knows how long it takes.
func (p *progress) report(message string, percent int) {
	r := wire.ProgressReport{Kind: protocol.WorkDoneProgressKindReport, Message: message}
	if percent >= 0 {
		p.last = max(p.last, percent)
		r.Percentage = &p.last
	}
	p.send(r)
}

func (p *progress) end(message string) {
	p.send(protocol.WorkDoneProgressEnd{Kind: protocol.WorkDoneProgressKindEnd, Message: message})
}

// run is a run that goes on or waits; it can be cancelled.
type run struct {
	cancel context.CancelFunc
	tokens []json.RawMessage
}

// progressCancel is window/workDoneProgress/cancel.
func (s *server) progressCancel(params json.RawMessage) error {
	var p wire.ProgressParams
	if err := json.Unmarshal(params, &p); err != nil {
		return wire.InvalidParams(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.runs {
		for _, t := range r.tokens {
			if bytes.Equal(t, p.Token) {
				r.cancel()
			}
		}
	}
	return nil
}

// cancelAll is skewlens.cancel.
func (s *server) cancelAll(context.Context, *call) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.runs {
		r.cancel()
	}
	return wire.Object{"cancelled": len(s.runs)}, nil
}

// never is how long a program runs of which a person is told how to end it well: it may
// be a server.
const never = 30 * time.Second

// ticking words elapsed time, against that of an earlier run if there was one.
func ticking(elapsed, before time.Duration) (string, int) {
	if before <= 0 && elapsed > never {
		return fmt.Sprintf("%.0f s; skewlens: finish ends it and reports what it did", elapsed.Seconds()), -1
	}
	if before <= 0 {
		return fmt.Sprintf("%.0f s", elapsed.Seconds()), -1
	}
	return fmt.Sprintf("%.0f s of about %.0f s", elapsed.Seconds(), before.Seconds()), int(min(95, 100*elapsed/before))
}
