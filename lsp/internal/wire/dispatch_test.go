package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// answer is what a request was replied.
type answer struct {
	result any
	err    error
}

// ask sends a request to a dispatcher; its answer comes through the channel.
func ask(t *testing.T, ctx context.Context, d *Dispatcher, id jsonrpc2.ID, method string) chan answer {
	t.Helper()
	call, err := jsonrpc2.NewCall(id, method, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan answer, 1)
	reply := func(_ context.Context, result any, err error) error {
		out <- answer{result, err}
		return nil
	}
	if err := d.Serve(ctx, reply, call); err != nil {
		t.Errorf("%s ended the connection: %v", method, err)
	}
	return out
}

func notify(t *testing.T, d *Dispatcher, method string, params any) {
	t.Helper()
	n, err := jsonrpc2.NewNotification(method, params)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Serve(context.Background(), nil, n); err != nil {
		t.Errorf("%s ended the connection: %v", method, err)
	}
}

func code(err error) jsonrpc2.Code {
	var e *jsonrpc2.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code
}

// A request that waits holds up neither the next request nor a notification,
// and what comes behind initialize comes after it.
func TestNothingWaitsForARequest(t *testing.T) {
	var order []string
	release := make(chan struct{})
	d := NewDispatcher(func(_ context.Context, req jsonrpc2.Request) (any, error) {
		if req.Method() == "slow" {
			<-release
			return "slow", nil
		}
		order = append(order, req.Method()) // unguarded: the race detector sees what is not in order
		return req.Method(), nil
	}, func(string, error) {})
	slow := ask(t, context.Background(), d, jsonrpc2.NewNumberID(1), "slow")
	first := ask(t, context.Background(), d, jsonrpc2.NewNumberID(2), "initialize")
	notify(t, d, "one", nil)
	notify(t, d, "two", nil)
	if got := strings.Join(order, " "); got != "initialize one two" {
		t.Errorf("the order was %s", got)
	}
	if a := <-first; a.result != "initialize" {
		t.Errorf("got %v", a)
	}
	close(release)
	if a := <-slow; a.result != "slow" || a.err != nil {
		t.Errorf("got %v", a)
	}
	d.End()
	select {
	case a := <-ask(t, context.Background(), d, jsonrpc2.NewNumberID(3), "late"):
		t.Errorf("after the end got %v", a)
	default:
	}
}

// 7 and "7" are two requests; each is cancelled by its own name only.
func TestCancel(t *testing.T) {
	for _, id := range []jsonrpc2.ID{jsonrpc2.NewNumberID(7), jsonrpc2.NewStringID("7")} {
		started := make(chan context.Context)
		d := NewDispatcher(func(ctx context.Context, req jsonrpc2.Request) (any, error) {
			started <- ctx
			<-ctx.Done()
			return nil, fmt.Errorf("run: %w", ctx.Err())
		}, func(string, error) {})
		got := ask(t, context.Background(), d, id, "run")
		ctx := <-started
		for _, other := range []any{8, "8", nil, []int{7}} {
			notify(t, d, "$/cancelRequest", Object{"id": other})
		}
		if ctx.Err() != nil {
			t.Fatal("another's cancel cancelled it")
		}
		notify(t, d, "$/cancelRequest", Object{"id": &id})
		if a := <-got; code(a.err) != protocol.CodeRequestCancelled {
			t.Errorf("got %v", a)
		}
		d.End()
	}
}

// Errors have codes, panics are errors, and those of notifications are told to
// whom it may concern.
func TestFailures(t *testing.T) {
	var failed []string
	d := NewDispatcher(func(_ context.Context, req jsonrpc2.Request) (any, error) {
		switch req.Method() {
		case "plain":
			return nil, errors.New("plain")
		case "coded":
			return nil, InvalidParams(errors.New("two\nlines"))
		}
		panic("a bug")
	}, func(method string, err error) { failed = append(failed, method+": "+err.Error()) })
	for method, want := range map[string]jsonrpc2.Code{"plain": jsonrpc2.InternalError, "coded": jsonrpc2.InvalidParams, "bug": jsonrpc2.InternalError} {
		a := <-ask(t, context.Background(), d, jsonrpc2.NewNumberID(1), method)
		if code(a.err) != want || strings.Contains(a.err.Error(), "\n") {
			t.Errorf("%s: %v", method, a)
		}
	}
	d.End()
	failed = nil
	notify(t, d, "plain", nil)
	notify(t, d, "bug", nil)
	if len(failed) != 3 || failed[0] != "plain: plain" || !strings.HasPrefix(failed[1], "bug: panic: a bug") || !strings.Contains(failed[2], "a bug") {
		t.Errorf("failed: %q", failed)
	}
}
