package blocking

import (
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// PackSites writes the sites of a library, for UnpackSites.
func PackSites(w *pack.Writer, sites []Site) {
	w.Uint(uint64(len(sites)))
	for i := range sites {
		x := &sites[i]
		w.Uint(x.At)
		w.Uint(x.Start())
		w.Uint(uint64(len(x.Moved)))
		for k := range x.Moved {
			w.Bytes(x.Moved[k].Bytes)
		}
		w.Bool(x.Timed)
		w.Uint(uint64(x.Asks))
		w.Bool(x.Entry)
	}
}

// UnpackSites reads what PackSites has written. The instructions point into
// the reader's bytes.
func UnpackSites(r *pack.Reader) ([]Site, error) {
	sites := make([]Site, r.Len(6))
	for i := range sites {
		x := &sites[i]
		x.At = r.Uint()
		at := r.Uint()
		x.Moved = make([]x86.Insn, r.Len(2))
		for k := range x.Moved {
			in, err := x86.Decode(r.Bytes(), at)
			if err != nil {
				return nil, fmt.Errorf("instruction at %#x: %w", at, err)
			}
			x.Moved[k], at = in, in.End()
		}
		x.Timed = r.Bool()
		x.Asks = Asks(r.Uint())
		x.Entry = r.Bool()
		if len(x.Moved) == 0 {
			return nil, fmt.Errorf("no room for a jump to %#x", x.At)
		}
	}
	return sites, r.Err
}
