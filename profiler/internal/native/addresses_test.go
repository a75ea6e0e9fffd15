package native

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestHome: whoever is called from a copy was called from the original, behind which it
// returns; also where it never does, and that is counted.
func TestHome(t *testing.T) {
	const bias, cache = 1 << 32, 1 << 40
	p := probetest.Open(t, probetest.Programs(t)[0])
	spec := relocate.New(p, probetest.NoHooks, probe.Options{NoTree: true}, relocate.Numbers{})
	code, err := spec.Assemble(spec.Home())
	if err != nil {
		t.Fatal(err)
	}
	m := &module{analysis: &analysis{im: p.Image, spec: spec, code: code}, bias: bias, cache: cache, size: uint64(len(code.Bytes))}
	in, calls, left := &injection{modules: []*module{m}}, 0, 0
	for i := 0; i < len(spec.Plans()); i += 4 {
		for _, x := range spec.Copied(code, i) {
			call, err := x86.Decode(p.Image.Bytes(x.Addr), x.Addr)
			if err != nil || !call.Kind.IsCall() {
				continue
			}
			if calls++; m.stand(uint64(x.Start)).How == relocate.Left {
				left++
			}
			if got := in.home(cache + uint64(x.End)); got != call.End()+bias {
				t.Errorf("behind the call at %#x is %#x, want %#x", call.Addr, got-bias, call.End())
			}
		}
	}
	if calls < 1000 || left < 10 {
		t.Errorf("looked at %d calls, %d of them counted as if control left by them", calls, left)
	}
}
