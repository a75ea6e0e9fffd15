package launch

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profile"
)

// TestRank: environments as launchers make them, and such as are no rank's.
func TestRank(t *testing.T) {
	for name, x := range map[string]struct {
		env  map[string]string
		want *profile.Rank
	}{
		"openmpi": {map[string]string{"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "PMIX_NAMESPACE": "77", "PMIX_RANK": "3", "SLURM_PROCID": "0", "SLURM_STEP_ID": "1"},
			&profile.Rank{Rank: 3, Size: 4, Launcher: "openmpi", Job: "77"}},
		"hydra": {map[string]string{"PMI_RANK": "0", "PMI_SIZE": "2"}, &profile.Rank{Rank: 0, Size: 2, Launcher: "mpich"}},
		"srun": {map[string]string{"SLURM_PROCID": "7", "SLURM_STEP_NUM_TASKS": "8", "SLURM_JOB_ID": "12", "SLURM_STEP_ID": "0", "PMIX_RANK": "7", "PMIX_NAMESPACE": "x"},
			&profile.Rank{Rank: 7, Size: 8, Launcher: "slurm", Job: "12.0"}},
		"pmix":           {map[string]string{"PMIX_RANK": "1", "PMIX_NAMESPACE": "x"}, &profile.Rank{Rank: 1, Launcher: "pmix", Job: "x"}},
		"a batch script": {map[string]string{"SLURM_PROCID": "0", "SLURM_JOB_ID": "12", "SLURM_NTASKS": "4"}, nil},
		"nobody's":       {nil, nil},
		"no number":      {map[string]string{"PMI_RANK": "x"}, nil},
		"negative":       {map[string]string{"PMI_RANK": "-1"}, nil},
		"beyond":         {map[string]string{"PMI_RANK": "5", "PMI_SIZE": "2"}, &profile.Rank{Rank: 5, Launcher: "mpich"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Rank(func(v string) string { return x.env[v] })
			if got != nil {
				if host, _ := os.Hostname(); got.Host != host {
					t.Errorf("host %q", got.Host)
				}
				got.Host, got.Cores = "", 0
			}
			if !reflect.DeepEqual(got, x.want) {
				t.Errorf("%+v, want %+v", got, x.want)
			}
		})
	}
}

func TestCores(t *testing.T) {
	for text, want := range map[string]int{"0-3\n": 4, "0\n": 1, "0-1,8-9,12\n": 5, "": 0, "x-2": 0, "3-1": 0} {
		name := filepath.Join(t.TempDir(), "online")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := cores(name); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := cores(filepath.Join(t.TempDir(), "none")); got != 0 {
		t.Errorf("no file: %d", got)
	}
}

// TestFiles: of each rank there is one file; what an earlier run left of it goes, also
// below, and nothing else.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b] *")
	r := &profile.Rank{Rank: 3, Host: "node/1"}
	name := File(dir, r)
	if filepath.Base(name) != "rank-0003.node-1.skewlens" {
		t.Error(name)
	}
	other := File(filepath.Join(dir, "below"), &profile.Rank{Rank: 30, Host: "x"})
	old := File(filepath.Join(dir, "below"), &profile.Rank{Rank: 3, Host: "y"})
	for _, f := range []string{name, other, old, filepath.Join(dir, "rank-0003.txt"), filepath.Join(dir, ".new-rank-0003.skewlens")} {
		if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := NewMark(old)
	if got, err := Files(dir); err != nil || !reflect.DeepEqual(got, []string{old, other, name}) {
		t.Errorf("%q, %v", got, err)
	}
	Forget(dir, r)
	if got, err := Files(dir); err != nil || !reflect.DeepEqual(got, []string{other}) || Running(dir).Ranks > 0 {
		t.Errorf("%q, %v are left", got, err)
	}
	m.Remove()
	if _, err := Files(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory that is not there is no error")
	}
}

// TestMarks: those that run are waited for, those of other machines and of processes
// that are gone are not.
func TestMarks(t *testing.T) {
	dir := t.TempDir()
	host, _ := os.Hostname()
	mine := NewMark(File(dir, &profile.Rank{Rank: 4, Host: host}))
	mine.told = time.Time{}
	mine.Tell(17)
	if s := Running(dir); s.Ranks != 1 || s.Instances != 17 || s.String() != "1 rank at work, 17 section instances" {
		t.Errorf("%+v: %s", s, s)
	}
	if got := InFolder(dir); got != "" {
		t.Errorf("in no folder: %q", got)
	}
	folder := filepath.Join(dir, Folder+"1")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	there := NewMark(File(folder, &profile.Rank{Rank: 1, Host: "x"}))
	if got := InFolder(dir); got != "1 rank at work, 0 section instances" {
		t.Errorf("in the folder: %q", got)
	}
	there.Remove()
	elsewhere := NewMark(File(dir, &profile.Rank{Rank: 5, Host: "elsewhere"}))
	if s := Running(dir); s.Ranks != 2 || s.Instances != 0 || s.String() != "2 ranks at work, the last at 0 section instances" {
		t.Errorf("%+v: %s", s, s)
	}
	if got := Unfinished(dir, time.Millisecond); !reflect.DeepEqual(got, []int{4, 5}) { // it waits for this process in vain
		t.Errorf("%v", got)
	}
	go mine.Remove()
	if got := Unfinished(dir, time.Minute); !reflect.DeepEqual(got, []int{5}) {
		t.Errorf("%v", got)
	}
	elsewhere.Remove()
	if err := os.WriteFile(filepath.Join(dir, ".rank-x.skewlens.running"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Unfinished(dir, time.Minute); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestStarts(t *testing.T) {
	for program, want := range map[string]bool{"mpirun": true, "/usr/bin/mpiexec.hydra": true, "srun": true, "./mpirun.openmpi": true, "mpirunner": false, "prog": false, "": false} {
		if Starts(program) != want {
			t.Errorf("%q: %v", program, !want)
		}
	}
}
