// Package perfetto writes a profile as a trace of TrackEvents, for
// ui.perfetto.dev: a track for each thread with a slice for each of its parts,
// named by the section, and one for its wait; a counter of the imbalance for
// each section; the task graph's dependences as flows between moments of threads; and the
// critical path, from thread to thread, likewise.
//
//	process ┬ thread 0   ▐ owner.c:38      ▌ wait ▐ owner.c:38 …
//	        │   └ path   ▐ critical path ─┐
//	        ├ thread 1   ▐ owner.c:38 ▌ wait ▐ owner.c:38 …
//	        │   └ path                    └─▷ ▐ critical path
//	        └ counter    imbalance of owner.c:38, in %
//
//	profile ──▶ schedule: spans that nest, by thread ──▶ packets, field by field
//
// The messages are written without their schema: that is some hundred files, a
// trace needs eight messages of it, and a field's number can never change.
package perfetto

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/skewlens/skewlens/export"
	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
)

// Write writes a trace of the given sections and the critical path, and beside it what there is to
// doubt about the run. The profile must be valid. An error is the writer's.
func Write(w io.Writer, p *profile.Profile, sections []export.Section, path []export.Step, doubts []profile.Warning) error {
	b := bufio.NewWriter(w)
	t := &writer{w: b}
	t.trace(p, sections, path, doubts)
	if t.err == nil {
		t.err = b.Flush()
	}
	if t.err != nil {
		return fmt.Errorf("write perfetto: %w", t.err)
	}
	return nil
}

// Field numbers, from perfetto's protos/perfetto/trace.
const (
	tracePacket = 1 // Trace

	packetTimestamp  = 8 // TracePacket
	packetSequence   = 10
	packetEvent      = 11
	packetDescriptor = 60

	trackUUID    = 1 // TrackDescriptor
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	trackParent  = 5
	trackCounter = 8

	processID     = 1 // ProcessDescriptor
	processName   = 6
	processLabels = 8

	threadProcess = 1 // ThreadDescriptor
	threadID      = 2
	threadName    = 5

	counterUnitName = 6 // CounterDescriptor

	eventAnnotations = 4 // TrackEvent
	eventType        = 9
	eventTrack       = 11
	eventCategories  = 22
	eventName        = 23
	eventDouble      = 44
	eventFlows       = 47 // that begin here, or pass
	eventFlowsEnd    = 48

	annotationUint   = 3 // DebugAnnotation
	annotationString = 6
	annotationName   = 10

	sliceBegin, sliceEnd, instant, counterValue = 1, 2, 3, 4 // TrackEvent.Type
)

// Tracks are numbered by us, from bases that keep the kinds apart; 0 is taken.
// The process number is not known, and thread 0 is somebody else there: so the
// main thread is 1 of process 1.
const (
	process      = 1
	threadTracks = 1 << 16
	graphTracks  = 1 << 46
	pathTracks   = 1 << 47
	countTracks  = 1 << 48
)

type writer struct {
	w   io.Writer
	err error
}

// proto is a protobuf message under construction.
type proto []byte

func (m *proto) number(field protowire.Number, n uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), n)
}

func (m *proto) text(field protowire.Number, s string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), units.Printable(s))
}

func (m *proto) fixed(field protowire.Number, n uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), n)
}

func (m *proto) double(field protowire.Number, x float64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), math.Float64bits(x))
}

func (m *proto) inner(field protowire.Number, n proto) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), n)
}

func (t *writer) packet(p proto) {
	p.number(packetSequence, 1)
	var out proto
	out.inner(tracePacket, p)
	if t.err == nil {
		_, t.err = t.w.Write(out)
	}
}

func (t *writer) descriptor(d proto) {
	var p proto
	p.inner(packetDescriptor, d)
	t.packet(p)
}

// event writes one event of a track.
func (t *writer) event(ns int64, track, kind uint64, fill func(*proto)) {
	var e, p proto
	e.number(eventType, kind)
	e.number(eventTrack, track)
	if fill != nil {
		fill(&e)
	}
	p.number(packetTimestamp, uint64(max(ns, 0)))
	p.inner(packetEvent, e)
	t.packet(p)
}

func annotate(e *proto, name string, value any) {
	var a proto
	a.text(annotationName, name)
	switch v := value.(type) {
	case uint64:
		a.number(annotationUint, v)
	case string:
		a.text(annotationString, v)
	}
	e.inner(eventAnnotations, a)
}

func (t *writer) trace(p *profile.Profile, sections []export.Section, path []export.Step, doubts []profile.Warning) {
	s := schedule(p, sections)
	t.process(p, s.times, doubts)
	for i := range p.Threads {
		th := &p.Threads[i]
		t.thread(p, th)
		t.slices(threadTracks+uint64(th.ID), s.spans[th.ID])
	}
	if s.measured {
		t.graph(p)
		t.path(path)
	}
	for i, c := range s.counters {
		t.counter(countTracks+uint64(i), c)
	}
}

func (t *writer) process(p *profile.Profile, times string, doubts []profile.Warning) {
	var m, d proto
	m.number(processID, process)
	m.text(processName, strings.TrimSpace(p.Program.Path+" "+strings.Join(p.Program.Args, " ")))
	m.text(processLabels, times)
	d.number(trackUUID, process)
	d.inner(trackProcess, m)
	t.descriptor(d)
	t.event(0, process, instant, func(e *proto) {
		e.text(eventName, "skewlens: "+times)
		annotate(e, "times", times)
		annotate(e, "backend", p.Run.Backend)
		if p.Program.BuildID != "" {
			annotate(e, "build id", p.Program.BuildID)
		}
		for _, w := range doubts {
			annotate(e, "doubt: "+w.Code, w.Message)
		}
	})
}

func (t *writer) thread(p *profile.Profile, th *profile.Thread) {
	name := fmt.Sprintf("thread %d", th.ID)
	if l, ok := p.Location(th.Start); ok && th.Start != 0 && l.Function != "" {
		name += " " + l.Function
	} else if th.ID == 0 {
		name += " main"
	}
	var d, m proto
	m.number(threadProcess, process)
	m.number(threadID, uint64(th.ID)+process)
	m.text(threadName, name)
	d.number(trackUUID, threadTracks+uint64(th.ID))
	d.number(trackParent, process)
	d.inner(trackThread, m)
	t.descriptor(d)
}

// slices writes spans that nest or follow each other, as schedule left them.
func (t *writer) slices(track uint64, spans []span) {
	open := []int64{} // ends, the innermost last
	closeUntil := func(ns int64) {
		for len(open) > 0 && open[len(open)-1] <= ns {
			t.event(open[len(open)-1], track, sliceEnd, nil)
			open = open[:len(open)-1]
		}
	}
	for _, s := range spans {
		closeUntil(s.from)
		t.event(s.from, track, sliceBegin, func(e *proto) {
			e.text(eventName, s.name)
			e.text(eventCategories, s.kind)
			if s.kind == kindWait {
				annotate(e, "section", s.section)
				return
			}
			annotate(e, "instance", uint64(s.instance))
			annotate(e, "instructions", s.instructions)
			if s.part.Timed {
				annotate(e, "cpu ns", uint64(s.part.BusyNS))
			}
		})
		open = append(open, s.to)
	}
	closeUntil(math.MaxInt64)
}

func (t *writer) counter(track uint64, c counter) {
	var d, m proto
	m.text(counterUnitName, "%")
	d.number(trackUUID, track)
	d.number(trackParent, process)
	d.text(trackName, "imbalance "+c.name)
	d.inner(trackCounter, m)
	t.descriptor(d)
	for _, v := range c.values {
		t.event(v.ns, track, counterValue, func(e *proto) { e.double(eventDouble, v.percent) })
	}
}
