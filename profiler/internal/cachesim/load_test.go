package cachesim

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPresets(t *testing.T) {
	if got := Presets(); !slices.Equal(got, []string{"paper", "server64"}) {
		t.Errorf("presets %q", got)
	}
	for name, want := range map[string]Machine{
		"paper": {
			Name: "paper", Line: 64, L1: Geometry{16 << 10, 4}, L3: Geometry{4 << 20, 16},
			Latency: Latency{L2: 14, L3: 12, Memory: 100, Upgrade: 12},
		},
		"server64": {
			Name: "server64", Line: 64, L1: Geometry{32 << 10, 8}, L2: Geometry{1 << 20, 16}, L3: Geometry{64 << 20, 16},
			Latency: DefaultLatency,
		},
	} {
		got, warnings, err := Find(name, nil)
		if err != nil || got != want || warnings != nil {
			t.Errorf("%s: %+v, %q, %v, want %+v", name, got, warnings, err, want)
		}
	}
	m, _, _ := Find("server64", nil)
	if a, b, c := m.L1.Sets(64), m.L2.Sets(64), m.L3.Sets(64); a != 64 || b != 1024 || c != 65536 {
		t.Errorf("%d, %d and %d sets", a, b, c)
	}
	if n := (Geometry{}).Sets(64); n != 0 {
		t.Errorf("an absent level has %d sets", n)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.toml")
	text := "[l1]\nsize = 32768\nways = 8\n[l2]\nsize = \"262144\"\nways = 4\n[l3]\nsize = \"1G\"\nways = 64\n[latency]\nmemory = 300\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := Machine{
		Name: "mine", Line: 64, L1: Geometry{32 << 10, 8}, L2: Geometry{256 << 10, 4}, L3: Geometry{1 << 30, 64},
		Latency: Latency{L2: 14, L3: 50, Memory: 300, Upgrade: 50},
	}
	if got, warnings, err := Find(path, nil); err != nil || got != want || warnings != nil {
		t.Errorf("%+v, %q, %v, want %+v", got, warnings, err, want)
	}
	_, err := Load(filepath.Join(t.TempDir(), "none.toml"))
	if err == nil || !strings.Contains(err.Error(), "none.toml") || !strings.Contains(err.Error(), "host, paper, server64") {
		t.Errorf("no file: %v", err)
	}
}

func TestMistakesInFiles(t *testing.T) {
	const l1 = "[l1]\nsize = \"32K\"\nways = 8\n"
	for _, c := range []struct{ text, want string }{
		{"", `read machine "m.toml": it says nothing: give it an [l1] with size and ways`},
		{"name = \"x\"", `there is no L1: give it an [l1]`},
		{"[l1]\nways = 8", `l1.size is missing: add it`},
		{"[l1]\nsize = 8192", `l1.ways is missing: add it`},
		{"speed = 3\n" + l1, `speed is not known: the keys here are name, line, l1, l2, l3, latency`},
		{l1 + "way = 3", `l1.way is not known: the keys here are size, ways`},
		{l1 + "[latency]\nl1 = 3", `latency.l1 is not known: the keys here are l2, l3, memory, upgrade`},
		{l1 + "\"a\\nb\" = 3", `l1.a\nb is not known`},
		{"name = 3\n" + l1, `name is no name: give it some printable characters`},
		{"name = \"a\\nb\"\n" + l1, `name is no name`},
		{"line = \"64\"\n" + l1, `line is no count: give it a whole number`},
		{"line = -64\n" + l1, `line is no count`},
		{"line = 48\n" + l1, `lines of 48 bytes cannot be simulated: make line a power of two from 16 to 256`},
		{"line = 512\n" + l1, `lines of 512 bytes`},
		{"l1 = 3", `l1 is no table: write [l1]`},
		{"[l1]\nsize = \"32k\"\nways = 8", `l1.size is no size: give it bytes, or "32K", "4M", "1G"`},
		{"[l1]\nsize = \"99999999999G\"\nways = 8", `l1.size is no size`},
		{"[l1]\nsize = 1.5\nways = 8", `l1.size is no size`},
		{"[l1]\nsize = \"32K\"\nways = 1.5", `l1.ways is no count`},
		{"[l1]\nsize = \"32K\"\nways = 0", `an l1 of 0 ways cannot be simulated: make ways 1 to 64`},
		{"[l1]\nsize = \"32K\"\nways = 65", `an l1 of 65 ways`},
		{"[l1]\nsize = \"8G\"\nways = 8", `make size 1 byte to 4G`},
		{"[l1]\nsize = -1\nways = 8", `an l1 of -1 bytes`},
		{"[l1]\nsize = 0\nways = 0", `there is no L1`},
		{l1 + "[l2]\nsize = \"33M\"\nways = 11", `an l2 of 34603008 bytes in 11 ways of lines of 64 has no power of two of sets: make size 23068672, or change ways`},
		{l1 + "[l3]\nsize = 1\nways = 2", `make size 128, or change ways`},
		{l1 + "[latency]\nmemory = -1", `latency.memory is no count`},
		{l1 + "[latency]\nmemory = 2000000", `a latency of 2000000 cycles for memory cannot be simulated: make it 0 to 1048576`},
		{"[l1]\nsize = \"32K\"\nways 8", `read machine "m.toml": line 3: `},
		{l1 + l1, `read machine "m.toml": `},
	} {
		_, err := parse("m.toml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		} else {
			fit(t, err)
		}
	}
}

// ours are names of types that are no reader's business.
var ours = regexp.MustCompile(`cachesim|int64|float64|interface|map\[|struct`)

// fit says whether a message is one line that says on what.
func fit(t *testing.T, err error) {
	t.Helper()
	if s := err.Error(); strings.ContainsAny(s, "\n\r") || !strings.HasPrefix(s, `read machine "m.toml": `) || ours.MatchString(s) {
		t.Errorf("%q: want one line, of the file, without our types", s)
	}
}

func TestMachinesSayWhoTheyAre(t *testing.T) {
	err := Machine{Name: "odd", Line: 64, L1: Geometry{Size: 4096}}.Validate()
	if want := `machine "odd": an l1 of 0 ways cannot be simulated: make ways 1 to 64`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzLoad(f *testing.F) {
	for _, name := range Presets() {
		text, err := presets.ReadFile("machines/" + name + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("line = 16\n[l1]\nsize = 64\nways = 4\n[l2]\nsize = \"1K\"\nways = 0x40")
	f.Add("l1 = {size = 1979-05-27, ways = [8]}\nlatency.l2 = inf")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parse("m.toml", []byte(text))
		if err == nil {
			if err := m.Validate(); err != nil {
				t.Errorf("it is read, but %v", err)
			}
			return
		}
		if s := err.Error(); strings.ContainsAny(s, "\n\r") || !strings.HasPrefix(s, `read machine "m.toml": `) {
			t.Errorf("%q: want one line, of the file", s)
		}
	})
}
