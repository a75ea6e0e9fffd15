package profile

import (
	"reflect"
	"strings"
	"testing"
)

func TestSumWaits(t *testing.T) {
	got := SumWaits([]Wait{{WaitSleep, 8, 5, 1}, {WaitLock, 16, 1, 1}, {WaitSleep, 8, 7, 2}, {WaitLock, 8, 1, 1}})
	want := []Wait{{WaitLock, 8, 1, 1}, {WaitLock, 16, 1, 1}, {WaitSleep, 8, 12, 3}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if SumWaits(nil) != nil {
		t.Error("no waits add up to none")
	}
}

func TestSumWakes(t *testing.T) {
	got := SumWakes([]Wake{{WaitSleep, 8, 9, 1, 5}, {WaitLock, 16, 9, 1, 1}, {WaitLock, 16, 9, 2, 1}, {WaitSleep, 8, 9, 1, 7}, {WaitLock, 16, 8, 2, 1}})
	want := []Wake{{WaitLock, 16, 8, 2, 1}, {WaitLock, 16, 9, 1, 1}, {WaitLock, 16, 9, 2, 1}, {WaitSleep, 8, 9, 1, 12}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var many []Wake
	for range 2 * fewWakes {
		many = append(many, want...)
	}
	if sums := SumWakes(many); len(sums) != len(want) || sums[0].NS != 2*fewWakes || sums[3].NS != 2*fewWakes*12 || sums[2].Thread != 2 {
		t.Errorf("many: %v", sums)
	}
	for k := range 9 * fewWakes { // of very many others, in no order
		many = append(many, Wake{WaitCondition, Addr(k * 5 % (3 * fewWakes)), 9, 1, 1})
	}
	if sums := SumWakes(many); len(sums) != len(want)+3*fewWakes || sums[len(sums)-1].NS != 2*fewWakes*12 || sums[9] != (Wake{WaitCondition, 9, 9, 1, 3}) {
		t.Errorf("very many: %v", sums)
	}
	known := map[ThreadID]bool{1: true, 2: true}
	if err := checkWakes(got, known); err != nil || SumWakes(nil) != nil {
		t.Error(err)
	}
	for want, ws := range map[string][]Wake{
		`kind "nap"`:           {{"nap", 8, 9, 1, 1}},
		"ended waits of -1 ns": {{WaitLock, 8, 9, 1, -1}},
		"thread 3 has ended":   {{WaitLock, 8, 9, 3, 1}},
		"come after others":    {{WaitLock, 8, 9, 1, 1}, {WaitLock, 8, 9, 1, 1}},
	} {
		if err := checkWakes(ws, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", ws, err)
		}
	}
}

// TestWaitsOfThreads: what the parts of a thread waited for adds up.
func TestWaitsOfThreads(t *testing.T) {
	part := func(id ThreadID, ws ...Wait) Part { return Part{Thread: id, Waits: ws} }
	s := Section{Instances: []Instance{
		{Folded: 1, Parts: []Part{part(1, Wait{WaitLock, 8, 3, 1}), part(2)}},
		{Folded: 1, Parts: []Part{part(1, Wait{WaitLock, 8, 4, 2}, Wait{WaitIO, 9, 1, 1}), part(2)}},
	}}
	ps := s.PartsByThread()
	if want := []Wait{{WaitLock, 8, 7, 3}, {WaitIO, 9, 1, 1}}; !reflect.DeepEqual(ps[0].Waits, want) || ps[0].WaitedNS() != 8 {
		t.Errorf("thread 1 waited %v in %d ns, want %v", ps[0].Waits, ps[0].WaitedNS(), want)
	}
	if len(ps[1].Waits) != 0 {
		t.Errorf("thread 2 waited %v", ps[1].Waits)
	}
}

func TestWaitsThatAreNone(t *testing.T) {
	for _, c := range []struct {
		ws   []Wait
		want string
	}{
		{[]Wait{{"nap", 8, 1, 1}}, `waits of kind "nap"`},
		{[]Wait{{"", 8, 1, 1}}, `waits of kind ""`},
		{[]Wait{{WaitLock, 8, -1, 1}}, "for -1 ns"},
		{[]Wait{{WaitLock, 8, 1, 0}}, "0 waits"},
		{[]Wait{{WaitLock, 8, 1, 1}, {WaitLock, 8, 1, 1}}, "come after others"},
	} {
		if err := checkWaits(c.ws); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.ws, err, c.want)
		}
	}
	for _, b := range [][]byte{{1}, {99, 0, 0, 1}, {1, 0x80}, {1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1}} {
		d := &decoder{left: 1 << 20}
		if ws, err := d.unpackWakes(b); err == nil {
			t.Errorf("% x are wakes: %v", b, ws)
		}
		if ws, err := d.unpackWaits(b); err == nil {
			t.Errorf("% x are %v", b, ws)
		}
	}
}

// TestOwn: a place in a system header stands for the call that it was inlined at.
func TestOwn(t *testing.T) {
	header, mine := Frame{File: "/usr/lib/gcc/x/../include/c++/12/bits/std_mutex.h", Line: 99}, Frame{File: "/home/u/pool.cc", Line: 7}
	for _, c := range []struct {
		l    Location
		line int
		ok   bool
	}{
		{Location{Frame: mine}, 7, true},
		{Location{Frame: header, InlinedAt: []Frame{header, mine, {File: "/home/u/main.cc", Line: 3}}}, 7, true},
		{Location{Frame: Frame{File: "/usr/include/stdio.h", Line: 5}}, 5, false},
		{Location{Frame: Frame{Function: "work"}}, 0, false},
	} {
		if own, ok := c.l.Own(); ok != c.ok || own.Line != c.line {
			t.Errorf("%v: line %d, %v; want %d, %v", c.l, own.Line, ok, c.line, c.ok)
		}
	}
}
