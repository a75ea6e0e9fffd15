package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"github.com/skewlens/skewlens/profile"
)

// tool finds a program that a test compares with. Where everything is said to
// be installed, its absence is a failure.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", name)
	}
	t.Skipf("%s is missing", name)
	return ""
}

// called is a program of two functions in which two threads ran: main calls
// work, twice from one place in a loop, and work has a part inlined from a
// header. Each thread waits for the other in a loop that spins.
const called = `skewlens profile as text 1
program /src/called
arg 1
build-id c0ffee
run backend=native cores=4 wall=5000ns
coverage functions=2/2 instructions=13/13
function main 0x1000-0x1030 entry=main.0
function work 0x1040-0x1060 entry=work.0
block main.0 0x1000-0x1010 in=main last=0x1008 instructions=4 count=main.0
block main.1 0x1010-0x1020 in=main last=0x101c instructions=3 count=main.1
block main.2 0x1020-0x1030 in=main last=0x102f instructions=1 count=main.2
block work.0 0x1040-0x1048 in=work last=0x1044 instructions=2 count=work.0
block work.1 0x1048-0x1050 in=work last=0x104c instructions=2 count=work.1 spin
block work.2 0x1050-0x1060 in=work last=0x105f instructions=1 count=work.2
edge - main.0 start count=->main.0
edge - work.0 start count=->work.0
edge main.0 main.1 fall site=0x1008 count=main.0
edge main.1 main.1 taken site=0x101c count=main.1>main.1
edge main.1 main.2 fall site=0x101c count=main.1>main.2
edge main.2 - exit site=0x102f count=main.2
edge main.1 work.0 call site=0x1014 count=main.1
edge work.0 work.1 fall site=0x1044 count=work.0
edge work.1 work.1 taken site=0x104c count=work.1>work.1
edge work.1 work.2 fall site=0x104c count=work.1>work.2
edge work.2 - exit site=0x105f count=work.2
event main.0 block at=0x1000
event main.1 block at=0x1010
event main.2 block at=0x1020
event work.0 block at=0x1040
event work.1 block at=0x1048
event work.2 block at=0x1050
event ->main.0 edge at=0x1000
event ->work.0 edge at=0x1040
event main.1>main.1 edge at=0x101c
event main.1>main.2 edge at=0x101c
event work.1>work.1 edge at=0x104c
event work.1>work.2 edge at=0x104c
thread 0 end=5000ns cpu=3000ns
  count main.0 1
  count main.1 2
  count main.2 1
  count work.0 2
  count work.1 12
  count work.2 2
  count ->main.0 1
  count main.1>main.1 1
  count main.1>main.2 1
  count work.1>work.1 10
  count work.1>work.2 2
thread 1 start=0x1040 begin=1000ns end=4000ns cpu=2000ns
  count work.0 1
  count work.1 5
  count work.2 1
  count ->work.0 1
  count work.1>work.1 4
  count work.1>work.2 1
section barrier site=0x1014
  instance span=3000ns
    part 0 site=0x1014 busy=1001ns wait=0ns from=1000ns to=3500ns
      count main.0 1
      count main.1 1
      count work.0 1
      count work.1 10
      count work.2 1
    part 1 site=0x1014 busy=700ns wait=1500ns from=1000ns to=2000ns
      count work.0 1
      count work.1 5
      count work.2 1
location 0x1000 file=/src/called.c line=20 column=1 function=main
location 0x1008 file=/src/called.c line=21 column=1 function=main
location 0x1010 file=/src/called.c line=22 column=2 function=main
location 0x1014 file=/src/called.c line=23 column=2 function=main
location 0x1040 file=/src/called.c line=5 column=1 function=work
location 0x1048 file=/src/wait.h line=3 column=1 function=wait
  inlined-at file=/src/called.c line=7 column=1 function=work
location 0x1050 file=/src/called.c line=9 column=1 function=work
end
`

func calledReport(t *testing.T) *Report {
	t.Helper()
	p, err := profile.ReadText(strings.NewReader(called))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// executed is what a profile's threads executed in all.
func executed(p *profile.Profile) (n uint64) {
	for i := range p.Threads {
		c := p.Threads[i].Totals
		for k, e := range c.Event {
			if ev := &p.Events[e]; ev.Kind == profile.BlockEntered {
				n += c.N[k] * uint64(p.Graph.Blocks[ev.Block].Instructions)
			}
		}
	}
	return n
}

func TestPprof(t *testing.T) {
	r := calledReport(t)
	var b, again bytes.Buffer
	if err := WritePprof(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := WritePprof(&again, r); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("written twice it differs: %v", err)
	}
	p, err := pprof.ParseData(b.Bytes())
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
	if want := int64(executed(r.of)); total != want {
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
	golden(t, "called.pprof.txt", []byte(p.String()))
}

// Without times there is no sample type for them, rather than zeros.
func TestPprofUntimed(t *testing.T) {
	r := made(t, mixed)
	var b bytes.Buffer
	if err := WritePprof(&b, r); err != nil {
		t.Fatal(err)
	}
	p, err := pprof.ParseData(b.Bytes())
	if err != nil || len(p.SampleType) != 1 {
		t.Errorf("sample types %v, %v", p.SampleType, err)
	}
	r.of = nil
	if err := WritePprof(&b, r); err == nil {
		t.Error("want an error without a profile")
	}
}

func TestGoToolPprofReadsIt(t *testing.T) {
	goTool := tool(t, "go")
	file := filepath.Join(t.TempDir(), "called.pb.gz")
	var b bytes.Buffer
	if err := WritePprof(&b, calledReport(t)); err != nil {
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
