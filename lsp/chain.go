package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// Codes of errors that the library does not name.
const (
	codeMethodNotFound   jsonrpc2.Code = -32601
	codeInvalidParams    jsonrpc2.Code = -32602
	codeInternal         jsonrpc2.Code = -32603
	codeInvalidRequest   jsonrpc2.Code = -32600
	codeNotInitialized   jsonrpc2.Code = -32002
	codeRequestCancelled jsonrpc2.Code = -32800
)

// chain decides what runs when: cancel at once, notifications and initialize
// in their order, each other request in a goroutine of its own, so that a run
// that takes minutes holds nothing up. A notification never asks the client anything: its answer
// would wait behind the notification.
//
// It never returns an error: that would end the connection.
type chain struct {
	handle func(ctx context.Context, req jsonrpc2.Request) (any, error)
	failed func(method string, err error) // of notifications, which have no answer

	mu    sync.Mutex
	ended bool
	live  map[jsonrpc2.ID]context.CancelFunc // 7 and "7" are two
	busy  sync.WaitGroup
}

// end waits for what runs; the context of all has been cancelled before.
func (c *chain) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.busy.Wait()
}

func newChain(handle func(context.Context, jsonrpc2.Request) (any, error), failed func(string, error)) *chain {
	return &chain{handle: handle, failed: failed, live: map[jsonrpc2.ID]context.CancelFunc{}}
}

func (c *chain) serve(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
	call, ok := req.(*jsonrpc2.Call)
	if !ok {
		if req.Method() == "$/cancelRequest" {
			c.cancel(req.Params())
			return nil
		}
		if _, err := c.guarded(ctx, req); err != nil {
			c.failed(req.Method(), err)
		}
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		cancel()
		return nil
	}
	c.live[call.ID()] = cancel
	c.busy.Add(1)
	c.mu.Unlock()
	answer := func() {
		defer c.busy.Done()
		v, err := c.guarded(ctx, req)
		c.mu.Lock()
		delete(c.live, call.ID())
		c.mu.Unlock()
		if errors.Is(err, context.Canceled) {
			err = jsonrpc2.NewError(codeRequestCancelled, "cancelled")
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
func (c *chain) guarded(ctx context.Context, req jsonrpc2.Request) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, jsonrpc2.NewError(codeInternal, fmt.Sprintf("%s: %v", req.Method(), p))
			c.failed(req.Method(), fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	return c.handle(ctx, req)
}

// coded gives every error a code; the library would send 0.
func coded(err error) error {
	var e *jsonrpc2.Error
	if err == nil || errors.As(err, &e) && e.Code != 0 {
		return err
	}
	return jsonrpc2.NewError(codeInternal, err.Error())
}

func (c *chain) cancel(params json.RawMessage) {
	var p struct {
		ID *jsonrpc2.ID `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil || p.ID == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.live[*p.ID]; cancel != nil {
		cancel()
	}
}
