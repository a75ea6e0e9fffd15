package lsp

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/profile"
)

// finishing runs until it is told to end.
type finishing struct {
	fake
	told chan struct{}
}

func (f *finishing) Finish() bool {
	close(f.told)
	return true
}

// A program that never ends is finished, and its result is there as any other.
func TestFinish(t *testing.T) {
	dir := folder(t)
	up := make(chan struct{})
	f := &finishing{fake: fake{t: t, dir: dir}, told: make(chan struct{})}
	f.run = func(context.Context, Target, func(Progress)) (*profile.Profile, error) {
		close(up)
		<-f.told
		return canned(t, dir), nil
	}
	c := serve(t, Options{Runner: f})
	c.begin(dir, nil)
	c.send(message{"id": "run", "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileTarget"}})
	<-up
	if got := c.command("skewlens.finish"); !matches(got["result"], any(map[string]any{"finished": true})) {
		t.Errorf("finish: %s", textual(got))
	}
	c.await(map[string]any{"id": "run", "result": map[string]any{"outcome": "completed"}})
	quit(c)
	c = serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	if got := c.command("skewlens.finish"); !matches(got["result"], any(map[string]any{"finished": false})) {
		t.Errorf("by a runner that cannot: %s", textual(got))
	}
	quit(c)
	if text, percent := ticking(time.Minute, 0); percent >= 0 || !strings.Contains(text, "finish ends it") {
		t.Errorf("after a minute: %s", text)
	}
	if text, percent := ticking(time.Minute, 2*time.Minute); percent != 50 || strings.Contains(text, "finish") {
		t.Errorf("of two minutes: %s", text)
	}
}
