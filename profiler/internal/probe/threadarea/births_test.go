package threadarea

import (
	"bytes"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
)

// TestClear: an area that was cleared is as good as new, whatever was counted
// there.
func TestClear(t *testing.T) {
	p := newProcess(1 << 63)
	for i := range uint32(40) {
		p.call(i%3, 0x5000+0x10*i)
		p.increment(int32(i%5), 2)
	}
	p.record(7 | ScanBit)
	p.increment(3, 1)
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	p.records()
	if len(p.area.All()) == 0 || p.area.get(offNOver) == 0 {
		t.Fatal("nothing was counted")
	}
	p.area.SetGuard(Alone)
	p.area.Clear()
	again := New(p.area.common, p.area.mem, p.area.base, 1<<63, 1<<62, 0)
	fresh := newProcess(1 << 63)
	if !bytes.Equal(again.mem[:p.l.ring], fresh.area.mem[:p.l.ring]) {
		t.Error("something was left")
	}
	if len(again.All()) != 0 || again.Guard() != Free {
		t.Errorf("%v, guard %d", again.All(), again.Guard())
	}
}

// TestPool: areas that are offered can be taken once.
func TestPool(t *testing.T) {
	p := newProcess(0)
	c := p.area.common
	if p.l.Waits()+heard+8 > p.l.live {
		t.Fatal("no room")
	}
	c.Offer(3, p.area)
	if !c.Offered(3) || c.Offered(2) || c.get(p.l.Pool()+24) != p.area.Base() {
		t.Error("it is not offered")
	}
	if !c.Withdraw(3) || c.Withdraw(3) || c.Offered(3) {
		t.Error("it is taken twice")
	}
	p.area.Introduce(17, 0x99)
	if p.area.get(offSelf) != 17 || p.area.get(offAsk) != 0x99 || p.area.get(offPool) != c.base+p.l.Pool() {
		t.Error("it was not told")
	}
	for off, v := range map[uint64]uint64{offState: uint64(Ended), offTid: 5, offBorn: 6, offEnded: 7, offCPU: 1, offCPU + 8: 9, offParent: 8, offAsked: 2} {
		p.area.put(off, v)
	}
	if got, want := p.area.Life(), (Born{5, 6, 7, 1e9 + 9, 8}); got != want || p.area.State() != Ended {
		t.Errorf("%+v, state %d", got, p.area.State())
	}
	if p.area.Asked() != 2 || *p.area.AskedAt() != 2 {
		t.Error("it does not ask")
	}
	if p.area.Answer(); p.area.Asked() != 0 {
		t.Error("it asks still")
	}
}

// TestFullAlone: a thread that nobody traces asks to be when its ring is full,
// and goes on without a record where that is refused.
func TestFullAlone(t *testing.T) {
	for _, refused := range []bool{false, true} {
		p := newProcess(1 << 63)
		p.area.SetGuard(Alone)
		p.area.put(offRing, p.area.get(OffLimit)+1)
		p.area.Introduce(1, probetest.CodeAt+uint64(len(Recorder))+2)
		ask := p.Len() + 2
		p.Raw(0xeb, 0) // jmp behind what follows
		p.IncGS(CounterOffset(1))
		if !refused {
			p.MovGS32(offGuard, Guarded)
		}
		p.Ret()
		p.Bytes()[ask-1] = byte(p.Len() - ask)
		p.increment(2, 1)
		p.record(7 | ScanBit)
		sig := p.run(t)
		if (sig == 0) != refused {
			t.Errorf("refused: %v; signal %v", refused, sig)
		}
		if all := p.area.All(); sig == 0 && (len(all) != 2 || p.area.get(offAsked) != 1) {
			t.Errorf("%v was counted", all)
		}
	}
}
