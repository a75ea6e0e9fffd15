package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurm is a cluster of one node, this machine, with more slots than cores.
type slurm struct {
	*mpiBench
	conf string
}

const slurmConf = `ClusterName=skewlens
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=DIR/munge.sock
CredType=cred/munge
SlurmctldPort=PORT1
SlurmdPort=PORT2
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.pid
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/slurmd.log
SlurmdSpoolDir=DIR/spool
StateSaveLocation=DIR/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/linear
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=HOST NodeAddr=127.0.0.1 CPUs=8 RealMemory=100 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// startSlurm starts munge, the controller and the node, each as a child that ends with
// the test; nothing of the system's own is touched.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	wanted(t, "munged", "slurmctld", "slurmd", "srun", "sbatch")
	if os.Geteuid() != 0 {
		t.Skip("a cluster of one's own is started by root")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	// Short: a socket's name has room for 108 bytes.
	dir, err := os.MkdirTemp("", "slurm")
	if err != nil {
		t.Fatal(err)
	}
	s := &slurm{newMPIBench(t, "openmpi"), filepath.Join(dir, "slurm.conf")}
	s.env = append(s.env, "SLURM_CONF="+s.conf)
	port := 20000 + os.Getpid()%20000
	conf := strings.NewReplacer("DIR", dir, "HOST", host, "PORT1", fmt.Sprint(port), "PORT2", fmt.Sprint(port+1)).Replace(slurmConf)
	for name, content := range map[string]string{"slurm.conf": conf, "munge.key": strings.Repeat("a key of no worth", 8)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"spool", "state"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	in := func(name string) string { return filepath.Join(dir, name) }
	s.daemon(t, "munged", "--foreground", "--force", "--socket="+in("munge.sock"), "--key-file="+in("munge.key"), "--pid-file="+in("munge.pid"), "--log-file="+in("munge.log"), "--seed-file="+in("munge.seed"))
	s.until(t, "munge begins", func() bool { _, err := os.Stat(in("munge.sock")); return err == nil })
	ctld := s.daemon(t, "slurmctld", "-D", "-f", s.conf)
	node := s.daemon(t, "slurmd", "-D", "-f", s.conf)
	s.until(t, "the node is idle", func() bool {
		out, err := s.try(t, "sinfo", "-h", "-o", "%T")
		return err == nil && strings.TrimSpace(out) == "idle"
	}, ctld, node)
	return s
}

// daemon starts one, which ends with the test, and returns what it says.
func (s *slurm) daemon(t *testing.T, command ...string) *bytes.Buffer {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = s.env
	said := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		killer := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		killer.Stop()
	})
	return said
}

// until tries until something is so.
func (s *slurm) until(t *testing.T, what string, is func() bool, said ...*bytes.Buffer) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); {
		if time.Now().After(deadline) {
			for _, b := range said {
				t.Log(b.String())
			}
			t.Fatalf("waited too long until %s", what)
		}
	}
}

// TestSlurm: ranks that srun starts, from a terminal and in a batch script, by the
// interfaces that Open MPI and MPICH know.
func TestSlurm(t *testing.T) {
	s := startSlurm(t)
	t.Run("srun, Open MPI", func(t *testing.T) {
		r, printed := s.profile(t, []string{"srun", "--mpi=pmix", "-n", "4"}, s.build(t, "domain.c"))
		if strings.Count(printed, "\n") != 1 {
			t.Errorf("it printed %q", printed)
		}
		checkPlantedRanks(t, r, "domain.c", 4)
	})
	t.Run("srun, MPICH", func(t *testing.T) {
		b := newMPIBench(t, "mpich")
		b.env = append(b.env, "SLURM_CONF="+s.conf)
		r, _ := b.profile(t, []string{"srun", "--mpi=pmi2", "-n", "4"}, b.build(t, "rootoutput.c"))
		checkPlantedRanks(t, r, "rootoutput.c", 4)
	})
	t.Run("sbatch", func(t *testing.T) {
		program, dir := s.build(t, "latesender.c"), filepath.Join(s.dir, "batch")
		script := filepath.Join(s.dir, "job.sh")
		text := fmt.Sprintf("#!/bin/sh\n#SBATCH -n 4\nsrun --mpi=pmix %s profile --save %s/ -- %s\n%[1]s report %[2]s\n", ownProgram(t), dir, program)
		if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		s.run(t, "sbatch", "--wait", "-o", filepath.Join(s.dir, "job.out"), script)
		checkPlantedRanks(t, reportOn(t, dir), "latesender.c", 4)
		if out, err := os.ReadFile(filepath.Join(s.dir, "job.out")); err != nil || !strings.Contains(string(out), "4 ranks") {
			t.Errorf("the job printed %q (%v)", out, err)
		}
	})
}
