package section

import (
	"maps"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestHooks: what the rules ask for can be recorded, and told apart.
func TestHooks(t *testing.T) {
	const barrier, condition, joining, creating = "pthread_barrier_wait", "pthread_cond_wait", "pthread_join", "pthread_create"
	owner := map[uint32]*call{}
	for name, h := range declared.hooks {
		for _, kind := range []uint32{h.Arrive, h.Leave} {
			if c := declared.calls[name]; kind != 0 && owner[kind] != nil && owner[kind] != c {
				t.Errorf("records of %s have the kind of %v", name, owner[kind].names)
			} else if kind != 0 {
				owner[kind] = c
			}
		}
		if h.Leave != 0 && h.Waits && !h.Locks { // nobody cancels goroutines
			t.Errorf("%s can be cancelled: it must not be recorded when it returns", name)
		}
	}
	for kind := range uint32(len(owner)) {
		if owner[kind+1] == nil {
			t.Errorf("no records of kind %d, of %d kinds", kind+1, len(owner))
		}
	}
	for _, c := range []struct {
		name                                 string
		hooked, catches, meets, waits, wakes bool
		argIsFunction, onReturn              bool
	}{
		{name: barrier, hooked: true, catches: true, meets: true, onReturn: true},
		{name: condition, hooked: true, catches: true, waits: true},
		{name: "cnd_broadcast", hooked: true, catches: true, wakes: true},
		{name: joining, hooked: true, catches: true, meets: true},
		{name: creating, hooked: true, catches: true, argIsFunction: true},
		{name: "pthread_exit", catches: true},
		{name: "puts"},
	} {
		h, ok := Hook(c.name)
		if ok != c.hooked || Catches(c.name) != c.catches || Meets(c.name) != c.meets || h.Waits != c.waits || h.Wakes != c.wakes ||
			ArgIsFunction(h.Arrive) != c.argIsFunction || (h.Leave != 0) != c.onReturn {
			t.Errorf("%s: hook %+v %v, catches %v, meets %v", c.name, h, ok, Catches(c.name), Meets(c.name))
		}
	}
}

// TestNewRule: a rule needs nothing but its entry in the table.
func TestNewRule(t *testing.T) {
	before, was := rules, declared
	defer func() { rules, declared = before, was }()
	var heard []string
	rules = append(slices.Clone(rules), func(t *Tracker) rule {
		return rule{
			calls: []call{{names: []string{"region_end"}, arrive: func(x *thread, r record.Record) {
				e := t.epochOf(r.Arg1)
				e.arrivals = append(e.arrivals, x.arrive(r))
				x.cut(e.arrivals[len(e.arrivals)-1], r.TSC)
				if len(e.arrivals) == 2 {
					t.complete(profile.OpenMP, e)
				}
			}}},
			born: func(x *thread) { heard = append(heard, "born") },
			died: func(x *thread, a arrival) { heard = append(heard, "died") },
		}
	})
	declared = declare()
	if !maps.Equal(was.hooks, func() map[string]record.Hook {
		m := maps.Clone(declared.hooks)
		delete(m, "region_end")
		return m
	}()) {
		t.Error("a new rule changed what the others ask for")
	}
	s := newScript(1 << 20)
	threads(s, 2)
	end := hookOf("region_end").Arrive
	for k := uint64(1); k <= 2; k++ {
		s.at(1, end, 5, 160, k)
		s.at(2, end, 5, 160, 10*k)
	}
	s.dies(1)
	expect(t, s.Finish(), "omp 160 [[1 10] [2 20]]")
	if want := []string{"born", "born", "born", "died"}; !slices.Equal(heard, want) {
		t.Errorf("the rule heard %q, want %q", heard, want)
	}
}
