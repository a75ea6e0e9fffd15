package profiler

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Instructions returns a reader of a program's code: the addresses of the
// instructions in [start, end), which must begin at one. Where the bytes are
// not understood the list ends. buildID guards against a program that was
// built again since it was profiled; empty accepts any.
func Instructions(path, buildID string) (func(start, end profile.Addr) []profile.Addr, error) {
	im, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	if buildID != "" && im.BuildID != buildID {
		return nil, nil
	}
	return func(start, end profile.Addr) (out []profile.Addr) {
		code := im.Bytes(uint64(start))
		for a := start; a < end && len(code) > 0; {
			in, err := x86.Decode(code[:min(15, len(code))], uint64(a))
			if err != nil {
				return out
			}
			out = append(out, a)
			code, a = code[in.Len():], a+profile.Addr(in.Len())
		}
		return out
	}, nil
}
