package profiler

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/native"
)

// backends are those that are built in, the best first. A new one is an entry
// here.
var backends = []backend.Backend{native.Backend{}, native.Perf{}}

// choose returns the backends that are to be tried, in this order: the one of
// that name, or, for "auto" and "", all that can count the events.
func choose(table []backend.Backend, name string, events []backend.Events) ([]backend.Backend, error) {
	if name != "" && name != "auto" {
		var names []string
		for _, b := range table {
			if b.Name() == name {
				return []backend.Backend{b}, b.Check(events)
			}
			names = append(names, b.Name())
		}
		return nil, fmt.Errorf("backend %q is not built in; use --backend %s", name, strings.Join(names, " or "))
	}
	var able []backend.Backend
	var first error
	for _, b := range table {
		err := b.Check(events)
		switch {
		case err == nil:
			able = append(able, b)
		case first == nil:
			first = err
		}
	}
	if len(able) == 0 {
		return nil, first
	}
	return able, nil
}

// try runs a job by the first backend that can do it, and says which that was.
// If none can, the error is that of the best.
func try(able []backend.Backend, j backend.Job) (o *backend.Outcome, by string, first error) {
	for _, b := range able {
		o, err := b.Run(j)
		if err == nil {
			return o, b.Name(), nil
		}
		var u *backend.Unavailable
		if !errors.As(err, &u) {
			return nil, "", err
		}
		if first == nil {
			first = err
		}
	}
	return nil, "", first
}
