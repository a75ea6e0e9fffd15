package cfg

import "testing"

// TestCaught: what a register holds that is called through where an exception was caught, as
// it was at the call that this came out of; where nothing was loaded yet, that is not known.
func TestCaught(t *testing.T) {
	p, _ := readSource(t, "testdata/slots.s").build(t)
	for name, want := range map[string]string{"caught": "sem_wait", "unloaded": ""} {
		g, calls := p.Graph(find(t, p, name), nil), 0
		for _, b := range g.Blocks {
			for i := range b.Calls {
				if c := &b.Calls[i]; !c.Known() {
					calls++
					if f, got := p.entered(g, c); f != nil || got != want {
						t.Errorf("%s calls %v, %q, want %q", name, f, got, want)
					}
				}
			}
		}
		if calls != 1 {
			t.Errorf("%s has %d calls through a register", name, calls)
		}
	}
}
