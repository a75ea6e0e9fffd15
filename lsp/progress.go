package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// progress tells a client how far a run is; where the client cannot show it,
// it tells nobody.
type progress struct {
	s     *server
	token json.RawMessage // nil: nobody listens
	last  int             // percentage, which must not go back
}

// begin starts a progress with the client's token, or one of ours.
func (s *server) begin(ctx context.Context, token json.RawMessage, title string, own string) *progress {
	p := &progress{s: s, token: token}
	if token == nil && s.client.Window.WorkDoneProgress {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		if _, err := s.conn.Call(ctx, "window/workDoneProgress/create", object{"token": own}, nil); err == nil {
			p.token, _ = json.Marshal(own)
		}
	}
	yes := true
	p.send(&progressValue{Kind: "begin", Title: title, Cancellable: &yes})
	return p
}

func (p *progress) send(v *progressValue) {
	if p.token != nil {
		p.s.tell("$/progress", object{"token": p.token, "value": v})
	}
}

// report says what happens now; percent < 0: nobody knows how long it takes.
func (p *progress) report(message string, percent int) {
	v := &progressValue{Kind: "report", Message: message}
	if percent >= 0 {
		p.last = max(p.last, percent)
		v.Percentage = &p.last
	}
	p.send(v)
}

func (p *progress) end(message string) { p.send(&progressValue{Kind: "end", Message: message}) }

// run is a run that goes on or waits; it can be cancelled.
type run struct {
	cancel context.CancelFunc
	tokens []json.RawMessage
}

func (s *server) progressCancel(params json.RawMessage) error {
	var p struct {
		Token json.RawMessage `json:"token"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return invalid(err)
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

func (s *server) cancelAll(context.Context, *call) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.runs {
		r.cancel()
	}
	return object{"cancelled": len(s.runs)}, nil
}

// ticking words elapsed time, against that of an earlier run if there was one.
func ticking(elapsed, before time.Duration) (string, int) {
	if before <= 0 {
		return fmt.Sprintf("%.0f s", elapsed.Seconds()), -1
	}
	return fmt.Sprintf("%.0f s of about %.0f s", elapsed.Seconds(), before.Seconds()), int(min(95, 100*elapsed/before))
}
