package dwarfmap

import (
	"bytes"
	"compress/zlib"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// section returns a debug section, unpacked; nil where there is none.
func section(f *elf.File, name string) ([]byte, error) {
	if s := f.Section(".debug_" + name); s != nil && s.Type != elf.SHT_NOBITS {
		if s.Size > maxSection {
			return nil, fmt.Errorf("section .debug_%s takes %d bytes", name, s.Size)
		}
		return contents(s)
	}
	// The older way: "ZLIB", the size, the data.
	s := f.Section(".zdebug_" + name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	b, err := s.Data()
	if err != nil {
		return nil, err
	}
	if len(b) < 12 || string(b[:4]) != "ZLIB" {
		return b, nil
	}
	z, err := zlib.NewReader(bytes.NewReader(b[12:]))
	if err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint64(b[4:])
	if n > maxSection {
		return nil, fmt.Errorf("section .zdebug_%s takes %d bytes", name, n)
	}
	var out bytes.Buffer
	if _, err := io.CopyN(&out, z, int64(n)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// contents reads a section, unpacking SHF_COMPRESSED. Section.Data makes a large
// one grow piece by piece, for fear of sizes that the file does not have; one
// whose last byte is there can be read at once.
func contents(s *elf.Section) ([]byte, error) {
	var last [1]byte
	if s.Flags&elf.SHF_COMPRESSED != 0 || s.Size == 0 {
		return s.Data()
	}
	if _, err := s.ReadAt(last[:], int64(s.Size)-1); err != nil {
		return nil, err
	}
	b := make([]byte, s.Size)
	if n, err := s.ReadAt(b, 0); n < len(b) {
		return nil, err
	}
	return b, nil
}

// dwarfData hands the sections that lines and names need to debug/dwarf. It
// leaves the large others (locations, types, macros) on the disk, which
// elf.File.DWARF would load.
func dwarfData(f *elf.File) (d *dwarf.Data, got map[string][]byte, err error) {
	got = map[string][]byte{}
	for _, name := range []string{"abbrev", "info", "line", "ranges", "str", "addr", "line_str", "str_offsets", "rnglists"} {
		if got[name], err = section(f, name); err != nil {
			return nil, nil, fmt.Errorf("section .debug_%s: %w", name, err)
		}
	}
	if len(got["info"]) == 0 {
		return nil, nil, errNoInfo
	}
	if d, err = dwarf.New(got["abbrev"], nil, nil, got["info"], got["line"], nil, got["ranges"], got["str"]); err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err := d.AddSection(".debug_"+name, got[name]); err != nil {
			return nil, nil, err
		}
	}
	return d, got, nil
}

var errNoInfo = errors.New("no .debug_info")

// unitHeaders lists the offsets of the DIEs that head the units of
// .debug_info, type units left out. debug/dwarf has checked the lengths.
func unitHeaders(info []byte, order binary.ByteOrder) ([]dwarf.Offset, error) {
	var offs []dwarf.Offset
	bad := func(at int) error { return fmt.Errorf("unit header at %#x is garbled", at) }
	for at := 0; at < len(info); {
		b := info[at:]
		if len(b) < 4 {
			return offs, bad(at)
		}
		length, size, wide := uint64(order.Uint32(b)), 4, 4 // the length, its size, the size of offsets
		if length == 0 {
			at += 4 // padding, as debug/dwarf allows
			continue
		}
		if length == 0xffffffff {
			if len(b) < 12 {
				return offs, bad(at)
			}
			length, size, wide = order.Uint64(b[4:]), 12, 8
		}
		if length > uint64(len(b)-size) || length < 8 {
			return offs, bad(at)
		}
		head := size + 2 + wide + 1 // up to version 4: version, abbreviations, address size
		isType := false
		if order.Uint16(b[size:]) >= 5 {
			head = size + 2 + 1 + 1 + wide
			switch b[size+2] {
			case 4, 5: // skeleton and split units hold an id
				head += 8
			case 2, 6:
				isType = true
			}
		}
		if !isType && uint64(head) < uint64(size)+length {
			offs = append(offs, dwarf.Offset(at+head))
		}
		at += size + int(length)
	}
	return offs, nil
}
