// Package launch knows what starts the ranks of a program, mpirun and srun, by what
// they say to each process in its environment.
//
//	environment ─▶ Rank: which rank, of how many, of which run
//	mpirun -n 4 skewlens profile --save DIR/ -- program ─▶ DIR/rank-0003.host.skewlens
package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// launchers are what tells a process which rank it is, those first that may run inside
// of others. Slurm sets its variables in a batch script, too, which is no rank: there is
// a step where there is one.
var launchers = []struct {
	name, rank, size, needs string
	job                     []string
}{
	{"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "", []string{"PMIX_NAMESPACE", "OMPI_MCA_orte_jobfam", "OMPI_MCA_ess_base_jobid"}},
	{"mvapich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "", []string{"SLURM_JOB_ID"}},
	{"mpich", "PMI_RANK", "PMI_SIZE", "", []string{"SLURM_JOB_ID", "SLURM_STEP_ID"}},
	{"slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID", []string{"SLURM_JOB_ID", "SLURM_STEP_ID"}},
	{"pmix", "PMIX_RANK", "", "PMIX_NAMESPACE", []string{"PMIX_NAMESPACE"}},
}

// Rank is the rank of a process with an environment, nil where nothing says that it
// is one of several.
func Rank(getenv func(string) string) *profile.Rank {
	for _, l := range launchers {
		n, err := strconv.Atoi(getenv(l.rank))
		if err != nil || n < 0 || l.needs != "" && getenv(l.needs) == "" {
			continue
		}
		r := &profile.Rank{Rank: n, Launcher: l.name}
		if size, err := strconv.Atoi(getenv(l.size)); err == nil && size > n {
			r.Size = size
		}
		var job []string
		for _, v := range l.job {
			if x := getenv(v); x != "" {
				job = append(job, x)
			}
		}
		r.Job = strings.Join(job, ".")
		r.Host, _ = os.Hostname()
		r.Cores = cores("/sys/devices/system/cpu/online")
		return r
	}
	return nil
}

// cores is how many a list as "0-3,8" names: those of the machine, whichever of them the
// launcher has bound this process to; 0 where it is not known.
func cores(list string) (n int) {
	b, err := os.ReadFile(list)
	if err != nil {
		return 0
	}
	for _, part := range strings.Split(strings.TrimSpace(string(b)), ",") {
		low, high, is := strings.Cut(part, "-")
		if !is {
			high = low
		}
		from, err := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || to < from {
			return 0
		}
		n += to - from + 1
	}
	return n
}

// suffix ends the names of ranks' files.
const suffix = ".skewlens"

// File is the name of a rank's file in a directory.
func File(dir string, r *profile.Rank) string {
	return filepath.Join(dir, fmt.Sprintf("rank-%04d.%s%s", r.Rank, clean(r.Host), suffix))
}

func clean(host string) string {
	return strings.Map(func(c rune) rune {
		if c == '/' || c < ' ' {
			return '-'
		}
		return c
	}, host)
}

// Files are the files of ranks in a directory, and in those right below it: each node
// may have one of its own.
func Files(dir string) (list []string, err error) {
	err = each(dir, func(name string) {
		if base := filepath.Base(name); strings.HasPrefix(base, "rank-") && strings.HasSuffix(base, suffix) {
			list = append(list, name)
		}
	})
	return list, err
}

// Forget removes what an earlier run has left of a rank.
func Forget(dir string, r *profile.Rank) {
	its := fmt.Sprintf("rank-%04d.", r.Rank)
	_ = each(dir, func(name string) {
		if base := filepath.Base(name); (strings.HasPrefix(base, its) || strings.HasPrefix(base, "."+its)) && strings.Contains(base, suffix) {
			os.Remove(name)
		}
	})
}

// programs start ranks, by the names of their files.
var programs = []string{"mpirun", "mpiexec", "orterun", "prterun", "srun", "aprun", "jsrun"}

// Starts reports whether a program starts the ranks of another one.
func Starts(program string) bool {
	base := filepath.Base(program)
	name, _, _ := strings.Cut(base, ".")
	return slices.Contains(programs, name)
}
