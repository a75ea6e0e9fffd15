package cachesim

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// cpus is where sysfs has them.
const cpus = "devices/system/cpu"

// index is what sysfs says of one cache of the first processor. Virtual machines
// may say zero, or nothing.
type index struct {
	path  string
	level int
	size  int64
	ways  int
	line  int
	sets  int64
	who   string // the processors that share it: 0-3,8
}

// Host describes the machine that sys (/sys, mostly: see Sys) is of, by the caches
// of its first processor, and with DefaultLatency: no file says how slow they are.
// Where the machine does not fit the model, or says less than is needed, warnings
// say what is taken instead, a sentence each.
func Host(sys fs.FS) (m Machine, warnings []string, err error) {
	h := host{sys: sys}
	at := path.Join(cpus, "cpu0/cache")
	dirs, err := fs.Glob(sys, path.Join(at, "index*"))
	if err == nil && len(dirs) == 0 {
		err = errors.New("no caches are there")
	}
	if err != nil {
		return Machine{}, nil, fmt.Errorf("read the caches of this machine in /sys/%s: %w: name a machine, one of %s, or a file", at, err, strings.Join(Presets(), ", "))
	}
	found := map[int]*index{}
	for _, d := range dirs {
		x, err := h.index(d)
		if err != nil {
			return Machine{}, nil, fmt.Errorf("read the caches of this machine in /sys/%s: %w: name a machine, one of %s, or a file", d, err, strings.Join(Presets(), ", "))
		}
		if x != nil && found[x.level] == nil {
			found[x.level] = x
		}
	}
	m = h.machine(found)
	if err := m.mistake(); err != nil {
		return Machine{}, nil, fmt.Errorf("read the caches of this machine in /sys/%s: %w: or name another machine, one of %s, or a file", at, err, strings.Join(Presets(), ", "))
	}
	return m, h.warnings, nil
}

// host collects doubts.
type host struct {
	sys      fs.FS
	warnings []string
}

func (h *host) warn(format string, args ...any) {
	h.warnings = append(h.warnings, fmt.Sprintf(format, args...))
}

// read returns a file's only line, and "" if there is none.
func (h *host) read(name ...string) string {
	data, err := fs.ReadFile(h.sys, path.Join(name...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// index reads what one folder says; nil: it is not for data, or too far out.
func (h *host) index(dir string) (*index, error) {
	if h.read(dir, "type") == "Instruction" {
		return nil, nil
	}
	x := &index{path: dir, who: h.read(dir, "shared_cpu_list")}
	var err error
	if x.level, err = strconv.Atoi(h.read(dir, "level")); err != nil {
		return nil, fmt.Errorf("level is %q, and no number", h.read(dir, "level"))
	}
	if x.level < 1 || x.level > 3 {
		h.warn("this machine has a cache of level %d, which is not simulated", x.level)
		return nil, nil
	}
	// What is missing stays 0, and so does what is no number.
	x.ways, _ = strconv.Atoi(h.read(dir, "ways_of_associativity"))
	x.line, _ = strconv.Atoi(h.read(dir, "coherency_line_size"))
	x.sets, _ = strconv.ParseInt(h.read(dir, "number_of_sets"), 10, 64)
	if s := h.read(dir, "size"); s != "" {
		if x.size, err = parseSize(s); err != nil {
			return nil, fmt.Errorf("size: %w", err)
		}
	}
	return x, nil
}

// machine makes levels of what was found.
func (h *host) machine(found map[int]*index) Machine {
	m := Machine{Name: "host", Line: defaultLine, Latency: DefaultLatency}
	if one := found[1]; one != nil && one.line > 0 {
		m.Line = one.line
	} else {
		h.warn("this machine does not say how long its cache lines are: %d bytes are taken", m.Line)
	}
	one, two, three := found[1], found[2], found[3]
	if two != nil && one != nil && two.who != one.who {
		if three == nil {
			h.warn("the L2 of this machine is shared by processors %s and is its last level: it is taken for the L3 of all cores", two.who)
			two, three = nil, two
		} else {
			h.warn("the L2 of this machine is shared by processors %s: it is taken for one core's", two.who)
		}
	}
	if all := h.read(cpus, "online"); three != nil && all != "" && three.who != "" && three.who != all {
		h.warn("the last level of this machine is shared by processors %s of %s only: it is taken for one of all cores", three.who, all)
	}
	m.L1, m.L2, m.L3 = h.geometry(one, m.Line), h.geometry(two, m.Line), h.geometry(three, m.Line)
	return m
}

// geometry is the nearest below what was found that can be simulated.
func (h *host) geometry(x *index, line int) Geometry {
	if x == nil || line > maxLine { // which Validate says
		return Geometry{}
	}
	g := Geometry{Size: x.size, Ways: x.ways}
	switch {
	case g.Ways <= 0:
		g.Ways = 8
		if x.level > 1 {
			g.Ways = 16
		}
		h.warn("this machine does not say how many ways its L%d has: %d are taken", x.level, g.Ways)
	case g.Ways > maxWays:
		h.warn("the L%d of this machine has %d ways: %d are taken", x.level, g.Ways, maxWays)
		g.Ways = maxWays
	}
	set := int64(g.Ways) * int64(line)
	if g.Size == 0 && x.sets > 0 && x.sets <= maxSize/set {
		g.Size = x.sets * set
	}
	if g.Size == 0 {
		h.warn("this machine does not say how large its L%d is: none is simulated", x.level)
		return Geometry{}
	}
	if sets := g.Size / set; sets > 0 && (g.Size%set != 0 || !powerOfTwo(sets)) {
		down := roundedDown(sets) * set
		h.warn("the L%d of this machine has %d bytes in %d sets, which is no power of two: it is simulated with %d sets, %d bytes", x.level, g.Size, sets, roundedDown(sets), down)
		g.Size = down
	}
	return g
}
