package cachesim

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// defaultLine is in bytes: nearly everybody's.
const defaultLine = 64

// parse reads a file's text. The table is walked here, and not by the decoder, whose
// messages are about our types.
func parse(path string, data []byte) (Machine, error) {
	m := Machine{
		Name:    strings.TrimSuffix(filepath.Base(path), ".toml"),
		Line:    defaultLine,
		Latency: DefaultLatency,
	}
	var top map[string]any
	if err := toml.Unmarshal(data, &top); err != nil {
		return Machine{}, fmt.Errorf("read machine %q: %s", path, syntax(err))
	}
	f := file{path: path, table: top}
	f.text("name", &m.Name)
	f.count("line", &m.Line)
	for _, l := range []struct {
		name string
		g    *Geometry
	}{{"l1", &m.L1}, {"l2", &m.L2}, {"l3", &m.L3}} {
		f.within(l.name, func(f *file) {
			f.need("size", "ways")
			f.size("size", &l.g.Size)
			f.count("ways", &l.g.Ways)
		})
	}
	f.within("latency", func(f *file) {
		for _, l := range m.Latency.named() {
			n := int(*l.cycles)
			f.count(l.name, &n)
			*l.cycles = Cycles(n)
		}
	})
	f.finish()
	if f.err == nil && len(top) == 0 {
		f.err = fmt.Errorf("read machine %q: it says nothing: give it an [l1] with size and ways", path)
	}
	if f.err != nil {
		return Machine{}, f.err
	}
	if err := m.mistake(); err != nil {
		return Machine{}, fmt.Errorf("read machine %q: %w", path, err)
	}
	return m, nil
}

// syntax is what the decoder says, and where.
func syntax(err error) string {
	said := strings.TrimPrefix(err.Error(), "toml: ")
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, _ := at.Position()
		said = fmt.Sprintf("line %d: %s", line, said)
	}
	return strings.Join(strings.Fields(said), " ")
}

// file is a table of a TOML file. The first mistake is kept.
type file struct {
	path  string
	under string // the table's name and a dot, or nothing
	table map[string]any
	known []string
	err   error
}

// mistake says what is wrong with a key.
func (f *file) mistake(key, format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("read machine %q: %s %s", f.path, f.under+key, fmt.Sprintf(format, args...))
	}
}

func (f *file) get(key string) (any, bool) {
	f.known = append(f.known, key)
	v, ok := f.table[key]
	return v, ok
}

func (f *file) need(keys ...string) {
	for _, k := range keys {
		if _, ok := f.table[k]; !ok {
			f.mistake(k, "is missing: add it")
		}
	}
}

// text must be one line: it becomes part of messages.
func (f *file) text(key string, into *string) {
	v, ok := f.get(key)
	if !ok {
		return
	}
	s, ok := v.(string)
	if !ok || s == "" || strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		f.mistake(key, "is no name: give it some printable characters in quotes")
		return
	}
	*into = s
}

func (f *file) count(key string, into *int) {
	v, ok := f.get(key)
	if !ok {
		return
	}
	n, ok := v.(int64)
	if !ok || n < 0 || n > math.MaxInt32 {
		f.mistake(key, "is no count: give it a whole number, without quotes")
		return
	}
	*into = int(n)
}

func (f *file) size(key string, into *int64) {
	switch v, ok := f.get(key); v := v.(type) {
	case int64:
		*into = v
		return
	case string:
		if n, err := parseSize(v); err == nil {
			*into = n
			return
		}
	default:
		if !ok {
			return
		}
	}
	f.mistake(key, `is no size: give it bytes, or "32K", "4M", "1G"`)
}

func (f *file) within(key string, read func(*file)) {
	v, ok := f.get(key)
	if !ok {
		return
	}
	table, ok := v.(map[string]any)
	if !ok {
		f.mistake(key, "is no table: write [%s], and its keys below", key)
		return
	}
	in := file{path: f.path, under: key + ".", table: table}
	read(&in)
	in.finish()
	if f.err == nil {
		f.err = in.err
	}
}

// finish finds what nobody asked for.
func (f *file) finish() {
	for _, key := range slices.Sorted(maps.Keys(f.table)) {
		if !slices.Contains(f.known, key) {
			f.mistake(strings.Trim(strconv.Quote(key), `"`), "is not known: the keys here are %s", strings.Join(f.known, ", "))
		}
	}
}

// parseSize reads bytes, or K, M or G of them, as files and the kernel have them.
func parseSize(s string) (int64, error) {
	digits, unit := s, int64(1)
	for suffix, u := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if d, ok := strings.CutSuffix(s, suffix); ok {
			digits, unit = d, u
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is no size: give bytes, or 32K, 4M, 1G", s)
	}
	return n * unit, nil
}
