package native

import (
	"encoding/binary"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// TestBegunBefore: goroutines that run are known, also while the thread that took an area
// before theirs waits for a core: a panic that one of them recovers could not be told else.
func TestBegunBefore(t *testing.T) {
	const state = 0x100 // of an area, as in goroutine.S
	l := threadarea.NewLayout([]threadarea.Function{{Chords: 5}}, 0)
	common := threadarea.NewCommon(l, make([]byte, l.Size()), 0)
	var offered []*thread
	for range 4 {
		mem := make([]byte, l.Size())
		offered = append(offered, &thread{living: &living{mem: mem, area: threadarea.NewGoroutine(common, mem, 0, 0, 0, 0)}})
	}
	runs := func(t *thread) { binary.LittleEndian.PutUint64(t.mem[state:], uint64(threadarea.Runs)) }
	gs := &goroutines{offered: []*thread{offered[0], nil, offered[1], offered[2], offered[3]}}
	gs.take(4) // the third of these has not been taken
	runs(offered[2])
	if list := gs.begun(); len(list) != 1 || list[0] != offered[2] || len(gs.taken) != 2 {
		t.Errorf("%d have begun, of %d it is not known; want the last of three", len(list), len(gs.taken))
	}
	runs(offered[0])
	runs(offered[1])
	gs.take(5)
	if list := gs.begun(); len(list) != 2 || list[0] != offered[0] || len(gs.taken) != 1 || gs.first != 5 {
		t.Errorf("%d have begun, of %d it is not known", len(list), len(gs.taken))
	}
}
