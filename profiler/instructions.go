package profiler

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Instructions returns a reader of the code of a program and of the libraries
// that were profiled with it: the addresses of the instructions in [start,
// end), which must begin at one. Where the bytes are not understood the list
// ends. The reader is nil where one of the files was built again since.
func Instructions(p profile.Program) (func(start, end profile.Addr) []profile.Addr, error) {
	im, err := image.Open(p.Path)
	if err != nil {
		return nil, err
	}
	if p.BuildID != "" && im.BuildID != p.BuildID {
		return nil, nil
	}
	images := []*image.Image{im}
	for _, l := range p.Libraries {
		im, err := image.OpenLibrary(l.Path)
		if err != nil {
			return nil, err
		}
		if im.BuildID != l.BuildID {
			return nil, nil
		}
		images = append(images, im)
	}
	return func(start, end profile.Addr) (out []profile.Addr) {
		_, link := p.Library(start)
		at := int(start / profile.LibraryStep)
		if at >= len(images) {
			return nil
		}
		code := images[at].Bytes(uint64(link))
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
