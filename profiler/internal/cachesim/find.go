package cachesim

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// presets are described in these files.
//
//go:embed machines/*.toml
var presets embed.FS

// Presets are the names of machines that Find knows, sorted.
func Presets() []string {
	files, err := fs.Glob(presets, "machines/*.toml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "machines/"), ".toml")
	}
	return files
}

// names are all that Find takes beside files.
func names() []string { return append([]string{"host"}, Presets()...) }

// Sys is where this machine says what caches it has.
func Sys() fs.FS { return os.DirFS("/sys") }

// Find returns the machine that is meant: "host" is the one that sys describes (nil:
// this one), a preset's name is that, and all else is a file (./host is one, too).
// What is doubtful about the host is said in warnings, a sentence each.
func Find(what string, sys fs.FS) (m Machine, warnings []string, err error) {
	if what == "host" {
		if sys == nil {
			sys = Sys()
		}
		return Host(sys)
	}
	if slices.Contains(Presets(), what) {
		path := "machines/" + what + ".toml"
		data, err := presets.ReadFile(path)
		if err != nil {
			return Machine{}, nil, err
		}
		m, err = parse(path, data)
		return m, nil, err
	}
	m, err = Load(what)
	return m, nil, err
}

// Load reads a machine from a file: see machines/*.toml. Only [l1] must be there. A
// line has 64 bytes and a latency is that of DefaultLatency if they are not said;
// the name is the file's.
func Load(path string) (Machine, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Machine{}, fmt.Errorf("read a machine: %w: give a file, or one of %s", err, strings.Join(names(), ", "))
	}
	return parse(path, data)
}
