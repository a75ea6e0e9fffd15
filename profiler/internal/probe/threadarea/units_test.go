package threadarea

import "testing"

// TestUnitsState: what is left out of a loop's rounds is said to threads while they
// run, a new thread's are told from the first on, and an area that was cleared is as
// before.
func TestUnitsState(t *testing.T) {
	l := NewLayout([]Function{{Chords: 5, Sites: 3, Always: true}}, 0).WithUnits(3)
	p := newProcessOf(l, 1<<63)
	word := func(at uint32) uint32 { return *p.area.half(uint64(l.Units() + at)) }
	passes, inside, skip := UnitOffset(1)
	if word(passes) != 0 || word(skip) != 0 {
		t.Error("the first round of a new thread is not told")
	}
	p.area.SkipUnits(1, 7)
	p.area.TellUnits(false)
	if word(passes) != never || word(skip) != 7 {
		t.Errorf("%d passes to go, %d left out", word(passes), word(skip))
	}
	p.area.TellUnits(true)
	*p.area.half(uint64(l.Units() + inside)) = 1
	if word(passes) != 0 || word(skip) != 7 {
		t.Errorf("%d passes to go, %d left out", word(passes), word(skip))
	}
	other, _, _ := UnitOffset(2)
	if other+unitSize > unitSize*3 || word(other) != 0 {
		t.Error("loops share their state")
	}
	p.area.Clear()
	for at := uint32(0); at < 3*unitSize; at += 4 {
		if word(at) != 0 {
			t.Errorf("state at %d is %d after all", at, word(at))
		}
	}
	if end := uint64(l.Units()) + 3*unitSize; end > l.Size() || l.WithClocks().Size() <= l.Size() {
		t.Error("the area has no room")
	}
}
