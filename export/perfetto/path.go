package perfetto

import (
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/export"
	"github.com/skewlens/skewlens/profile"
)

// path draws the critical path: each step is a slice on a track below its
// thread's, since it need not nest in the thread's parts, and a flow leads from it
// to the next one.
func (t *writer) path(steps []export.Step) {
	var on []profile.ThreadID
	for _, s := range steps {
		on = append(on, s.Thread)
	}
	slices.Sort(on)
	for _, id := range slices.Compact(on) {
		var d proto
		d.number(trackUUID, pathTracks+uint64(id))
		d.number(trackParent, threadTracks+uint64(id))
		d.text(trackName, fmt.Sprintf("critical path on thread %d", id))
		t.descriptor(d)
	}
	for i, s := range steps {
		track := pathTracks + uint64(s.Thread)
		t.event(s.FromNS, track, sliceBegin, func(e *proto) {
			e.text(eventName, "critical path")
			e.text(eventCategories, "path")
			if i+1 < len(steps) {
				e.fixed(eventFlows, uint64(i)+1)
			}
			if i > 0 {
				e.fixed(eventFlowsEnd, uint64(i))
			}
		})
		t.event(s.ToNS, track, sliceEnd, nil)
	}
}
