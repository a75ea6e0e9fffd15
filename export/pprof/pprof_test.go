package pprof

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	pb "github.com/google/pprof/profile"
	"github.com/skewlens/skewlens/export/internal/exporttest"
	"github.com/skewlens/skewlens/internal/golden"
)

func TestPprof(t *testing.T) {
	prof, sections := exporttest.Called(t)
	var b, again bytes.Buffer
	if err := Write(&b, prof, sections); err != nil {
		t.Fatal(err)
	}
	if err := Write(&again, prof, sections); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("written twice it differs: %v", err)
	}
	p, err := pb.ParseData(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	sums, busy := map[string]int64{}, map[string]int64{}
	total := int64(0)
	for _, s := range p.Sample {
		total += s.Value[0]
		sums[s.Label["section"][0]+" "+s.Label["thread"][0]] += s.Value[0]
		busy[s.Label["thread"][0]] += s.Value[1]
		if spins := s.Location[0].Line[0].Function.Name == "wait"; spins != (s.Label["spin"] != nil) {
			t.Errorf("spin label %v of %v", s.Label, s.Location[0].Line[0].Function.Name)
		}
	}
	if want := int64(exporttest.Executed(prof)); total != want {
		t.Errorf("%d instructions, want %d", total, want)
	}
	for name, want := range map[string]int64{"called.c:23 0": 30, "called.c:23 1": 13, "outside 0": 11, "outside 1": 0} {
		if sums[name] != want {
			t.Errorf("%s: %d instructions, want %d", name, sums[name], want)
		}
	}
	if busy["0"] != 1001 || busy["1"] != 700 {
		t.Errorf("cpu time %v, want 1001 and 700: as measured", busy)
	}
	golden.Check(t, "called.pprof.txt", []byte(p.String()))
}

// Without times there is no sample type for them, rather than zeros.
func TestPprofUntimed(t *testing.T) {
	prof, sections := exporttest.Mixed(t)
	var b bytes.Buffer
	if err := Write(&b, prof, sections); err != nil {
		t.Fatal(err)
	}
	p, err := pb.ParseData(b.Bytes())
	if err != nil || len(p.SampleType) != 1 {
		t.Errorf("sample types %v, %v", p.SampleType, err)
	}
	b.Reset()
	prof, _ = exporttest.Called(t) // nor where there is no section that could have any
	if err := Write(&b, prof, nil); err != nil {
		t.Fatal(err)
	}
	if p, err := pb.ParseData(b.Bytes()); err != nil || len(p.SampleType) != 1 || len(p.Sample) == 0 {
		t.Errorf("without sections: sample types %v, %v", p.SampleType, err)
	}
}

func TestGoToolPprofReadsIt(t *testing.T) {
	goTool := exporttest.Tool(t, "go")
	file := filepath.Join(t.TempDir(), "called.pb.gz")
	var b bytes.Buffer
	prof, sections := exporttest.Called(t)
	if err := Write(&b, prof, sections); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{
		"-top":   `34 .*%.* wait \(inline\)`,
		"-raw":   `wait /src/wait\.h:3.*\n\s+work /src/called\.c:7`,
		"-tags":  `(?s)section: Total 54.*43 .*: called\.c:23.*11 .*: outside.*thread: Total 54.*41 .*: 0.*13 .*: 1`,
		"-lines": `(?m)^\s+34.* wait /src/wait\.h:3`,
	} {
		args := []string{"tool", "pprof", flag, file}
		if flag == "-lines" {
			args = []string{"tool", "pprof", "-top", flag, file}
		}
		cmd := exec.Command(goTool, args...)
		cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir(), "PPROF_BINARY_PATH="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(want).Match(out) {
			t.Errorf("go tool pprof %s: %v, want %s in\n%s", flag, err, want, out)
		}
	}
}
