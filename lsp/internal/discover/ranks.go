package discover

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
)

// What a source says that is of MPI, and the compilers that know where that is.
var (
	ofMPI       = pattern.New(`(?im)^\s*(#\s*include\s*[<"]mpi\.h[>"]|use(\s*,\s*\w+\s*::|\s)\s*mpi(_f08)?\b|include\s*['"]mpif\.h['"])`)
	compilesMPI = strings.NewReplacer("cc ", "mpicc ", "c++ ", "mpicxx ", "gfortran ", "mpifort ")
)

// ranked offers a program of MPI's as a launcher starts it, before the program alone: on
// half of the processors, as launchers count cores, of which most have two.
func ranked(c Candidate, mpi bool) []Candidate {
	if !mpi {
		return []Candidate{c}
	}
	launched := c
	launched.Launcher = []string{"mpirun", "-n", strconv.Itoa(min(max(runtime.NumCPU()/2, 2), 4))}
	launched.Label = strings.Join(launched.Launcher, " ") + " " + c.Label
	return []Candidate{launched, c}
}
