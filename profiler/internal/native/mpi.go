package native

import (
	"debug/elf"
	"os"
	"path"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// MPI's implementations are libraries of which nothing is counted: to wait is what
// they do. Each has its own handles of communicators; those that are there from the
// start are told apart by these.

// mpiLibraries are those of implementations, by the beginning of their names.
var mpiLibraries = []string{"libmpi.", "libmpi_", "libmpich", "libmpicxx", "libmpifort", "libmpl", "libopa.", "libopen-rte", "libopen-pal", "liboshmem", "libpmix", "libpmi", "libprrte", "libucp", "libucs", "libuct", "libfabric", "libpsm", "libhwloc", "libromio"}

func isMPI(file string) bool {
	base := path.Base(file)
	for _, l := range mpiLibraries {
		if strings.HasPrefix(base, l) {
			return true
		}
	}
	return false
}

// What MPICH, and all that have its binary interface, call communicators.
const (
	mpichWorld  = 0x44000000
	mpichSelf   = 0x44000001
	mpichShared = 1
)

// mpi says what the process's implementation of MPI calls what all have; nothing where
// it has loaded none.
func (in *injection) mpi(p *tracee.Process) (m section.MPI) {
	libs, err := libraries(p)
	if err != nil {
		return m
	}
	var lib *library
	for i := range libs {
		if isMPI(libs[i].path) && (strings.HasPrefix(path.Base(libs[i].path), "libmpi.") || strings.HasPrefix(path.Base(libs[i].path), "libmpich.")) {
			lib = &libs[i]
		}
	}
	if lib == nil {
		return m
	}
	m.Host, _ = os.Hostname()
	m.World, m.Self = symbols(*lib, "ompi_mpi_comm_world", "ompi_mpi_comm_self")
	if m.World == 0 {
		return section.MPI{Numbers: true, World: mpichWorld, Self: mpichSelf, FortranWorld: mpichWorld, FortranSelf: mpichSelf, Shared: mpichShared, Host: m.Host}
	}
	m.FortranSelf = 1
	// A program that was linked to be at a fixed place has its own copy of data.
	prog := in.modules[0]
	if w, s := symbols(library{prog.im.Path, prog.bias + prog.im.Lowest&^0xfff}, "ompi_mpi_comm_world", "ompi_mpi_comm_self"); w != 0 {
		m.World = w
		if s != 0 {
			m.Self = s
		}
	}
	return m
}

// symbols are the run-time addresses of two that a file defines; 0 where it does not.
func symbols(l library, a, b string) (x, y uint64) {
	f, err := elf.Open(l.path)
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	lib := foreignLibrary{library: l}
	if lib.read(f) != nil {
		return 0, 0
	}
	for _, s := range lib.syms {
		if s.Section == elf.SHN_UNDEF {
			continue
		}
		switch s.Name {
		case a:
			x = s.Value + lib.bias
		case b:
			y = s.Value + lib.bias
		}
	}
	return x, y
}
