package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Dispatcher decides what runs when: cancel at once, notifications and
// initialize in their order, each other request in a goroutine of its own, so
// that a run that takes minutes holds nothing up. A notification never asks
// the client anything: its answer would wait behind the notification.
type Dispatcher struct {
	handle func(ctx context.Context, req jsonrpc2.Request) (any, error)
	failed func(method string, err error) // of notifications, which have no answer

	quick chan struct{} // a place for each request that is answered at once: see maxQuick

	mu    sync.Mutex
	ended bool
	live  map[jsonrpc2.ID]context.CancelFunc // 7 and "7" are two
	busy  sync.WaitGroup
}

// maxQuick requests are answered at once; the next is not read before one of them
// is. Commands do not count: they may take minutes, and wait for the client.
const maxQuick = 32

// End takes no more requests and waits for what runs; the context of all has
// been cancelled before.
func (d *Dispatcher) End() {
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	d.busy.Wait()
}

// NewDispatcher hands messages to handle. Whose errors nobody waits for, and
// panics, go to failed.
func NewDispatcher(handle func(context.Context, jsonrpc2.Request) (any, error), failed func(string, error)) *Dispatcher {
	return &Dispatcher{handle: handle, failed: failed, live: map[jsonrpc2.ID]context.CancelFunc{}, quick: make(chan struct{}, maxQuick)}
}

// Serve is a [jsonrpc2.Handler]. It never returns an error: that would end the
// connection.
func (d *Dispatcher) Serve(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
	call, ok := req.(*jsonrpc2.Call)
	if !ok {
		if req.Method() == "$/cancelRequest" {
			d.cancel(req.Params())
			return nil
		}
		if _, err := d.guarded(ctx, req); err != nil {
			d.failed(req.Method(), err)
		}
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	d.mu.Lock()
	if d.ended {
		d.mu.Unlock()
		cancel()
		return nil
	}
	d.live[call.ID()] = cancel
	d.busy.Add(1)
	d.mu.Unlock()
	quick := req.Method() != "workspace/executeCommand"
	if quick {
		d.quick <- struct{}{}
	}
	answer := func() {
		defer d.busy.Done()
		if quick {
			defer func() { <-d.quick }()
		}
		v, err := d.guarded(ctx, req)
		d.mu.Lock()
		delete(d.live, call.ID())
		d.mu.Unlock()
		if errors.Is(err, context.Canceled) {
			err = jsonrpc2.NewError(protocol.CodeRequestCancelled, "cancelled")
		}
		cancel()
		// Not the request's context: the answer to a cancelled one must go too.
		_ = reply(context.Background(), v, coded(err))
	}
	if req.Method() == "initialize" { // what comes behind it, even at once, needs what it says
		answer()
	} else {
		go answer()
	}
	return nil
}

// guarded turns a panic into an error.
func (d *Dispatcher) guarded(ctx context.Context, req jsonrpc2.Request) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, jsonrpc2.NewError(jsonrpc2.InternalError, fmt.Sprintf("%s: %v", req.Method(), p))
			d.failed(req.Method(), fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	return d.handle(ctx, req)
}

// coded gives every error a code; the library would send 0.
func coded(err error) error {
	var e *jsonrpc2.Error
	if err == nil || errors.As(err, &e) && e.Code != 0 {
		return err
	}
	return jsonrpc2.NewError(jsonrpc2.InternalError, err.Error())
}

// cancel reads the identifier itself: protocol.CancelParams makes a float of a
// number, and 7 of "7" and 7 is then not to be told.
func (d *Dispatcher) cancel(params json.RawMessage) {
	var p struct {
		ID *jsonrpc2.ID `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil || p.ID == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if cancel := d.live[*p.ID]; cancel != nil {
		cancel()
	}
}

// InvalidParams is the error of parameters that do not decode.
func InvalidParams(err error) error {
	return jsonrpc2.NewError(jsonrpc2.InvalidParams, "parameters: "+OneLine(err.Error()))
}
