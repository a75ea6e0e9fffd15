package lsp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
)

// bare is a folder with the example and nothing that says what to run.
func bare(t *testing.T) string {
	t.Helper()
	dir := folder(t)
	if err := os.Remove(filepath.Join(dir, workspace.ConfigName)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// asking begins a session whose client answers questions.
func asking(t *testing.T, dir string, opt Options, answers map[string]func(message) any) *client {
	t.Helper()
	c := serve(t, opt)
	c.answers = answers
	c.call("initialize", wire.Object{"processId": nil, "rootUri": workspace.FileURI(dir), "capabilities": wire.Object{}, "initializationOptions": wire.Object{"answers": true}})
	c.tell("initialized", wire.Object{})
	return c
}

// click is the lens over the example's first section.
func (c *client) click(path string) message {
	c.t.Helper()
	return c.command("skewlens.profileSection", wire.Object{"uri": workspace.FileURI(path), "line": 19})
}

func completed(target string) any {
	return map[string]any{"outcome": "completed", "target": target}
}

// remembering runs what the server asks to run.
type remembering struct {
	fake
	ran []Target
}

func (r *remembering) Profile(ctx context.Context, t Target, progress func(Progress)) (*profile.Profile, error) {
	r.ran = append(r.ran, t)
	return r.fake.Profile(ctx, t, progress)
}

// The first click in a folder without a configuration runs the program, offers to
// write down how, and does so only when it is told to.
func TestFirstClick(t *testing.T) {
	dir := bare(t)
	config := filepath.Join(dir, workspace.ConfigName)
	asked := 0
	press := func(message) any {
		if _, err := os.Stat(config); err == nil {
			t.Error("it was written before it was told to")
		}
		asked++
		return wire.Object{"title": "Write .skewlens.toml"}
	}
	c := asking(t, dir, Options{Runner: &fake{t: t, dir: dir}}, map[string]func(message) any{"window/showMessageRequest": press})
	c.open(filepath.Join(dir, "skewed.c"))
	if got := c.click(filepath.Join(dir, "skewed.c")); !matches(got["result"], completed("skewed")) {
		t.Fatalf("click: %s", textual(got))
	}
	c.await(map[string]any{"method": "window/showMessageRequest"})
	want := []any{map[string]any{"name": "skewed", "source": config, "build": "cc -O2 -g -pthread skewed.c -o skewed -lm", "program": filepath.Join(dir, "skewed")}}
	for !matches(c.command("skewlens.targets")["result"], any(want)) {
		if c.gone {
			t.Fatal("the server ended")
		}
	}
	if got := c.click(filepath.Join(dir, "skewed.c")); !matches(got["result"], completed("skewed")) {
		t.Errorf("again: %s", textual(got))
	}
	quit(c)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// A client that cannot ask gets what is likeliest, and nothing is written.
func TestFirstClickWithoutQuestions(t *testing.T) {
	dir := bare(t)
	r := &remembering{fake: fake{t: t, dir: dir}}
	cache := filepath.Join(t.TempDir(), "cache")
	c := serve(t, Options{Runner: r, Cache: cache})
	c.begin(dir, nil)
	c.open(filepath.Join(dir, "skewed.c"))
	if got := c.click(filepath.Join(dir, "skewed.c")); !matches(got["result"], completed("skewed")) {
		t.Fatalf("click: %s", textual(got))
	}
	quit(c)
	if _, err := os.Stat(filepath.Join(dir, workspace.ConfigName)); err == nil {
		t.Error("a configuration was written")
	}
	// Another server knows it from what was kept.
	c = serve(t, Options{Runner: r, Cache: cache})
	c.begin(dir, nil)
	c.open(filepath.Join(dir, "skewed.c"))
	if got := c.command("skewlens.profileSection", wire.Object{"uri": workspace.FileURI(filepath.Join(dir, "skewed.c")), "target": "skewed"}); !matches(got["result"], completed("skewed")) {
		t.Errorf("after a restart: %s", textual(got))
	}
	quit(c)
	if len(r.ran) != 2 || r.ran[1].Build != r.ran[0].Build {
		t.Errorf("ran %+v", r.ran)
	}
}

// Several candidates are asked about, and so are arguments where the source looks
// at them. Who answers neither has cancelled.
func TestFirstClickAsks(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "skewed.c")
	text, _ := os.ReadFile(source)
	put(t, source, strings.Replace(string(text), "int main(void)", "int main(int argc, char **argv)", 1))
	gcc(t, dir, "-g", "-c", "-x", "c", "-o", "x.o", "/dev/null")
	build := func(_ context.Context, target Target, _ func(string)) error {
		for _, name := range []string{"fast", "slow"} {
			cmd := exec.Command("gcc", "-g", "-Dmine(a,b)=1", "-Dspin()=0", "-Done=0", "-Wno-implicit-function-declaration", "skewed.c", "-o", name, "-pthread")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("build: %s", out)
			}
		}
		return nil
	}
	put(t, filepath.Join(dir, "Makefile"), "all:\n")
	r := &remembering{fake: fake{t: t, dir: dir, build: build}}
	var shown []string
	answers := map[string]func(message) any{
		"skewlens/choose": func(m message) any {
			shown = append(shown, textual(m["params"]))
			return wire.Object{"index": 1}
		},
		"skewlens/ask": func(message) any { return wire.Object{"value": `{threads} 'a b' c\ d ""`} },
	}
	c := asking(t, dir, Options{Runner: r}, answers)
	c.open(source)
	if got := c.click(source); got["result"].(map[string]any)["outcome"] != "completed" {
		t.Fatalf("click: %s", textual(got))
	}
	if len(shown) != 1 || !strings.Contains(shown[0], `"fast"`) || !strings.Contains(shown[0], "built from this file") {
		t.Errorf("shown: %q", shown)
	}
	if len(r.ran) != 1 || strings.Join(r.ran[0].Args, "|") != "{threads}|a b|c d|" || r.ran[0].Threads != 8 {
		t.Errorf("ran %+v", r.ran)
	}
	quit(c)

	for _, silent := range []string{"skewlens/choose", "skewlens/ask"} {
		c = asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/choose": answers["skewlens/choose"], silent: func(message) any { return nil }})
		c.open(source)
		if got := c.click(source); !matches(got["result"], any(map[string]any{"outcome": "cancelled"})) {
			t.Errorf("%s without an answer: %s", silent, textual(got))
		}
		quit(c)
	}
}

// Arguments that the program does not take are asked for again at the next click.
func TestFirstClickWithWrongArguments(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "skewed.c")
	text, _ := os.ReadFile(source)
	put(t, source, strings.Replace(string(text), "int main(void)", "int main(int argc, char **argv)", 1))
	r := &fake{t: t, dir: dir}
	r.run = func(_ context.Context, target Target, progress func(Progress)) (*profile.Profile, error) {
		p := canned(t, dir)
		if len(target.Args) == 0 {
			progress(Progress{Output: "a program"})
			progress(Progress{Output: "Usage: skewed THREADS"})
			progress(Progress{Output: "  THREADS how many"})
			p.Run.ExitCode, p.Sections = 2, nil
		}
		return p, nil
	}
	said := []string{"", "8"}
	c := asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/ask": func(message) any {
		answer := wire.Object{"value": said[0]}
		said = said[1:]
		return answer
	}})
	c.open(source)
	if got := textual(c.click(source)); !strings.Contains(got, "no parallel section was found · exit status 2 · it said “Usage: skewed THREADS” · the next click asks again what to run") || strings.Contains(got, "imbalance") {
		t.Errorf("without arguments: %s", got)
	}
	if got := c.click(source); !matches(got["result"], any(map[string]any{"outcome": "completed", "causes": 1.0})) {
		t.Errorf("with them: %s", textual(got))
	}
	quit(c)
	if len(said) > 0 {
		t.Error("it was not asked again")
	}
}

// A program whose pragmas nobody compiled has no threads; one that does not start says
// why, and another can be chosen at the next click.
func TestFirstClickOnPragmas(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "sum.c")
	put(t, source, "int main(void) {\n  int s = 0;\n#pragma omp parallel for\n  for (int i = 0; i < 9; i++) s += i;\n  return s;\n}\n")
	put(t, filepath.Join(dir, "Makefile"), "sum: sum.c\n")
	gcc(t, dir, "-g", "sum.c", "-o", "sum")
	r := &fake{t: t, dir: dir}
	r.run = func(_ context.Context, _ Target, progress func(Progress)) (*profile.Profile, error) {
		progress(Progress{Output: "There are not enough slots: cannot start."})
		p := canned(t, dir)
		p.Sections = nil
		return p, nil
	}
	again := ""
	c := asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/choose": func(m message) any {
		again = textual(m["params"])
		return wire.Object{"index": 0}
	}})
	c.open(source)
	click := func() string {
		return textual(c.command("skewlens.profileSection", wire.Object{"uri": workspace.FileURI(source), "line": 2}))
	}
	if got := click(); again != "" || !strings.Contains(got, "its OpenMP directives are not compiled: build with -fopenmp · it had no arguments and no input") {
		t.Errorf("pragma: %s", got)
	}
	r.run = func(_ context.Context, _ Target, progress func(Progress)) (*profile.Profile, error) {
		progress(Progress{Output: "There are not enough slots: cannot start."})
		return nil, errors.New("mpirun: exit status 1")
	}
	if got := click(); !strings.Contains(again, "another command") || !strings.Contains(got, "mpirun: exit status 1: it said “There are not enough slots: cannot start.”") {
		t.Errorf("failure: %s", got)
	}
	if got := textual(c.command("skewlens.targets")); strings.Contains(got, "sum") {
		t.Errorf("it is still chosen: %s", got)
	}
	quit(c)
}

// A build that makes nothing of the file says so, and where it can asks what to run.
func TestFirstClickBuildsNothing(t *testing.T) {
	dir := bare(t)
	put(t, filepath.Join(dir, "Makefile"), "all:\n")
	source := filepath.Join(dir, "lib", "work.c")
	put(t, source, "void work(void) { pthread_join(t, 0); }\n")
	r := &remembering{fake: fake{t: t, dir: dir}}
	c := serve(t, Options{Runner: r})
	c.begin(dir, nil)
	c.open(source)
	want := "make succeeded, and there is no program that is made of work.c: build with -g, or name the program in .skewlens.toml"
	if got := c.click(source); !matches(got["result"], any(map[string]any{"outcome": "failed", "message": want})) {
		t.Errorf("click: %s", textual(got))
	}
	quit(c)
	asked := ""
	c = asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/ask": func(m message) any {
		asked = textual(m["params"])
		return wire.Object{"value": "sh test.sh"}
	}})
	c.open(source)
	if got := c.click(source); !matches(got["result"], completed("sh")) || !strings.Contains(asked, "make succeeded, and there is no program that is made of work.c. What is to be run?") {
		t.Errorf("click: %s, asked %s", textual(got), asked)
	}
	quit(c)
	if len(r.ran) != 1 || r.ran[0].Build != "make" || strings.Join(r.ran[0].Args, " ") != "test.sh" {
		t.Errorf("ran %+v", r.ran)
	}
	// An example that the build leaves out is a program by itself.
	source = filepath.Join(dir, "skewed.c")
	c = asking(t, dir, Options{Runner: r}, nil)
	c.open(source)
	if got := c.click(source); !matches(got["result"], completed("skewed")) || r.ran[1].Build != "cc -O2 -g -pthread skewed.c -o skewed -lm" {
		t.Errorf("click: %s, ran %+v", textual(got), r.ran)
	}
	quit(c)
}

// A file is of its own folder's target, not of another folder's: one outside the
// workspace, one in a folder below with a configuration of its own, one that the
// configured program is not made of.
func TestWhoseTarget(t *testing.T) {
	dir, other := folder(t), bare(t)
	below := filepath.Join(dir, "below")
	copyTo(t, "testdata/skewed.c", filepath.Join(below, "skewed.c"))
	put(t, filepath.Join(below, workspace.ConfigName), "[[target]]\nname = \"inner\"\nprogram = \"p\"\n")
	put(t, filepath.Join(dir, "single.c"), "int main(void) { return 0; }\n")
	put(t, filepath.Join(dir, "another.c"), "int main(void) { return 0; }\n")
	gcc(t, dir, "-g", "another.c", "-o", "skewed")
	r := &remembering{fake: fake{t: t, dir: dir}}
	c := asking(t, dir, Options{Runner: r}, nil)
	for _, w := range []struct{ file, target, root string }{
		{filepath.Join(other, "skewed.c"), "skewed", other},
		{filepath.Join(below, "skewed.c"), "inner", below},
		{filepath.Join(dir, "single.c"), "single", dir},
	} {
		c.open(w.file)
		if got := c.click(w.file); !matches(got["result"], completed(w.target)) {
			t.Errorf("%s: %s", w.file, textual(got))
		} else if last := r.ran[len(r.ran)-1]; last.Root != w.root {
			t.Errorf("%s: of %s", w.file, last.Root)
		}
	}
	quit(c)
}

// What was built without debug information is offered to be built with it, from the
// beginning but once. A client that cannot ask gets what is there.
func TestFirstClickWithoutLines(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "skewed.c")
	put(t, filepath.Join(dir, "Makefile"), "all: # nothing, but it is CC's\n\techo $(CC) skewed\nclean:\n")
	gcc(t, dir, "-Dmine(a,b)=1", "-Dspin()=0", "-Done=0", "-Wno-implicit-function-declaration", "skewed.c", "-o", "skewed", "-pthread")
	var built []string
	r := &remembering{fake: fake{t: t, dir: dir, build: func(_ context.Context, target Target, _ func(string)) error {
		built = append(built, target.Build)
		return nil
	}}}
	choices := ""
	c := asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/choose": func(m message) any {
		choices = textual(m["params"])
		return wire.Object{"index": 0}
	}})
	c.open(source)
	for range 2 {
		if got := c.click(source); !matches(got["result"], completed("skewed")) {
			t.Errorf("click: %s", textual(got))
		}
	}
	quit(c)
	if !strings.Contains(choices, "without debug information") || strings.Join(built, "|") != "make clean && make CC='cc -g'|make CC='cc -g'" {
		t.Errorf("offered %s, built %q", choices, built)
	}
	built = nil
	c = serve(t, Options{Runner: r})
	c.begin(dir, nil)
	c.open(source)
	c.click(source)
	quit(c)
	if strings.Join(built, "|") != "make" {
		t.Errorf("without a question, built %q", built)
	}
}

// What was never built well is asked about when that fails; a mistake in what was is not.
func TestFirstClickThatDoesNotCompile(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "skewed.c")
	fails, asked := true, 0
	r := &remembering{fake: fake{t: t, dir: dir, build: func(_ context.Context, _ Target, line func(string)) error {
		if fails {
			line("skewed.c:3:1: error: unknown type name")
			return errors.New("exit status 1")
		}
		return nil
	}}}
	c := asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/choose": func(message) any {
		asked++
		return wire.Object{"index": 0}
	}})
	c.open(source)
	for i, want := range []int{0, 1, 2, 2, 2} {
		fails = i != 2
		if c.click(source); asked != want {
			t.Errorf("click %d: asked %d times, want %d", i, asked, want)
		}
	}
	quit(c)
}

// A lens of what went well once is good for another click after a run that did not.
func TestClickAfterAFailure(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "skewed.c")
	r := &fake{t: t, dir: dir}
	c := asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/choose": func(message) any { return wire.Object{"index": 0} }})
	c.open(source)
	again := wire.Object{"uri": workspace.FileURI(source), "line": 19, "target": "skewed"}
	c.click(source)
	r.run = func(context.Context, Target, func(Progress)) (*profile.Profile, error) {
		return nil, errors.New("no core is left")
	}
	if got := textual(c.command("skewlens.profileSection", again)); !strings.Contains(got, "no core is left · the next click asks what else to run") {
		t.Errorf("failure: %s", got)
	}
	r.run = nil
	if got := c.command("skewlens.profileSection", again); !matches(got["result"], completed("skewed")) {
		t.Errorf("after it: %s", textual(got))
	}
	quit(c)
}

// The first build of a CMake project makes everything; the next ones make the program.
func TestFirstClickInCMake(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "skewed.c")
	put(t, filepath.Join(dir, "CMakeLists.txt"), "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(app skewed.c)\n")
	var built []string
	r := &remembering{fake: fake{t: t, dir: dir, build: func(_ context.Context, target Target, _ func(string)) error {
		built = append(built, target.Build)
		put(t, filepath.Join(dir, "build/CMakeCache.txt"), "CMAKE_HOME_DIRECTORY:INTERNAL="+dir+"\n")
		put(t, filepath.Join(dir, "build/Makefile"), "all: app\napp: x\n")
		gcc(t, dir, "-g", "-Dmine(a,b)=1", "-Dspin()=0", "-Done=0", "-Wno-implicit-function-declaration", "skewed.c", "-o", "build/app", "-pthread")
		return nil
	}}}
	c := asking(t, dir, Options{Runner: r}, nil)
	c.open(source)
	for range 2 {
		if got := c.click(source); !matches(got["result"], completed("app")) {
			t.Errorf("click: %s", textual(got))
		}
	}
	quit(c)
	first := "cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build"
	if strings.Join(built, "|") != first+"|"+first+" --target app" {
		t.Errorf("built %q", built)
	}
}

// Where nothing is found that builds or runs, a person is asked for the command, and told
// what was seen. Who cannot be asked is told what to write.
func TestFirstClickAsksForACommand(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "lib", "work.c")
	put(t, source, "void work(void) { pthread_join(t, 0); }\n")
	put(t, filepath.Join(dir, "build.zig"), "")
	var built []string
	r := &remembering{fake: fake{t: t, dir: dir, build: func(_ context.Context, target Target, _ func(string)) error {
		built = append(built, target.Build)
		gcc(t, filepath.Dir(source), "-g", "-shared", "-fPIC", "-Wno-implicit-function-declaration", "-Dt=0", "work.c", "-o", "ext.so")
		return nil
	}}}
	said, asked := "zig build && zig-out/bin/app 8", ""
	c := asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/ask": func(m message) any {
		asked = textual(m["params"])
		return wire.Object{"value": said}
	}})
	c.open(source)
	if got := c.click(source); !matches(got["result"], completed("app")) {
		t.Errorf("click: %s", textual(got))
	}
	quit(c)
	if !strings.Contains(asked, "No program made of work.c was found") || !strings.Contains(asked, "and by build.zig skewlens cannot build") || !strings.Contains(asked, "zig build -Doptimize") {
		t.Errorf("asked: %s", asked)
	}
	if len(r.ran) != 1 || r.ran[0].Program != filepath.Join(dir, "zig-out/bin/app") || strings.Join(r.ran[0].Args, " ") != "8" || strings.Join(built, "|") != "zig build" {
		t.Errorf("ran %+v, built %q", r.ran, built)
	}
	if lib := strings.Join(r.ran[0].Lib, " "); lib != filepath.Join(dir, "lib", "ext.so") { // who loads it later
		t.Errorf("counted too: %q", lib)
	}
	for _, why := range []string{"names no program", "no program " + dir + "/nowhere"} {
		c = asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/ask": func(message) any { return wire.Object{"value": said} }})
		c.open(source)
		if said = map[bool]string{true: "", false: "./nowhere"}[why == "names no program"]; !strings.Contains(textual(c.click(source)), why) {
			t.Errorf("%q was taken", said)
		}
		quit(c)
	}
	c = serve(t, Options{Runner: r})
	c.begin(dir, nil)
	c.open(source)
	if got := textual(c.click(source)); !strings.Contains(got, "what to run is not known yet") {
		t.Errorf("without a question: %s", got)
	}
	quit(c)
}

// A lens in a test runs that test, of the next one the next; not where somebody has
// written down what to run.
func TestFirstClickInATest(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "x_test.go")
	put(t, filepath.Join(dir, "go.mod"), "module example.org/x\n")
	put(t, source, "package x\n\nfunc TestA(t *testing.T) {\n\twg.Wait()\n}\n\nfunc BenchmarkB(b *testing.B) {\n\tb.RunParallel(nil)\n}\n")
	r := &remembering{fake: fake{t: t, dir: dir}}
	c := asking(t, dir, Options{Runner: r}, nil)
	c.open(source)
	for line, want := range map[int]string{3: "-test.run=^TestA$", 7: "-test.run=^$ -test.bench=^BenchmarkB$"} {
		got := c.command("skewlens.profileSection", wire.Object{"uri": workspace.FileURI(source), "line": line})
		if last := r.ran[len(r.ran)-1]; !matches(got["result"], any(map[string]any{"outcome": "completed"})) || strings.Join(last.Args, " ") != want || last.Cwd != dir {
			t.Errorf("line %d: %s, ran %+v", line, textual(got), last)
		}
	}
	put(t, filepath.Join(dir, workspace.ConfigName), "[[target]]\nprogram = \"mine\"\n")
	if got := c.command("skewlens.profileSection", wire.Object{"uri": workspace.FileURI(source), "line": 3}); !matches(got["result"], completed("mine")) {
		t.Errorf("written down: %s", textual(got))
	}
	quit(c)
}

// A disk that is full leaves no empty configuration, and is said of the file once.
func TestRememberOnAFullDisk(t *testing.T) {
	dir := bare(t)
	source, config := filepath.Join(dir, "skewed.c"), filepath.Join(dir, workspace.ConfigName)
	c := asking(t, dir, Options{Runner: &fake{t: t, dir: dir}}, map[string]func(message) any{"skewlens/ask": func(message) any { return wire.Object{"value": ""} }})
	c.open(source)
	c.click(source)
	if err := os.Symlink("/dev/full", config); err != nil {
		t.Fatal(err)
	}
	if got := textual(c.command("skewlens.remember", wire.Object{"uri": workspace.FileURI(source)})); strings.Count(got, config) != 1 || !strings.Contains(got, "no space left on device: ") {
		t.Errorf("it said %s", got)
	}
	if _, err := os.Lstat(config); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left behind: %v", config, err)
	}
	quit(c)
}

// A folder of several projects, in each of which a program has the same name: a click runs
// that of its file, though none of them is built yet, and what is known of one stays.
func TestFirstClickInAFolderOfProjects(t *testing.T) {
	dir := bare(t)
	one, two := filepath.Join(dir, "one", "skewed.c"), filepath.Join(dir, "two", "skewed.c")
	copyTo(t, "testdata/skewed.c", one)
	copyTo(t, "testdata/skewed.c", two)
	if err := os.Remove(filepath.Join(dir, "skewed.c")); err != nil {
		t.Fatal(err)
	}
	r := &remembering{fake: fake{t: t, dir: dir}}
	c := asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/ask": func(message) any { return wire.Object{"value": ""} }})
	for _, w := range []struct{ file, target, program string }{{one, "skewed", "one/skewed"}, {two, "two/skewed", "two/skewed"}, {one, "skewed", "one/skewed"}, {two, "two/skewed", "two/skewed"}} {
		c.open(w.file)
		if got := c.click(w.file); !matches(got["result"], completed(w.target)) {
			t.Errorf("%s: %s", w.file, textual(got))
		}
		if last := r.ran[len(r.ran)-1]; last.Program != filepath.Join(dir, w.program) {
			t.Errorf("%s: ran %s", w.file, last.Program)
		}
	}
	quit(c)
}

// A program that was compiled by hand, and is older than its file at another click, is not
// run again as if nothing had been edited: it is offered to be compiled.
func TestClickAfterAnEdit(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "skewed.c")
	put(t, source, "#include <pthread.h>\nint main(void) { return 0; }\n")
	gcc(t, dir, "-g", "skewed.c", "-o", "skewed")
	r := &remembering{fake: fake{t: t, dir: dir}}
	var offered []string
	c := asking(t, dir, Options{Runner: r}, map[string]func(message) any{"skewlens/choose": func(m message) any {
		offered = append(offered, textual(m["params"]))
		return wire.Object{"index": 0}
	}})
	c.open(source)
	c.click(source)
	if last := r.ran[len(r.ran)-1]; last.Build != "" || len(offered) > 0 {
		t.Errorf("at first it is run as it is: built by %q, offered %q", last.Build, offered)
	}
	past := noon.AddDate(-9, 0, 0)
	if err := os.Chtimes(filepath.Join(dir, "skewed"), past, past); err != nil {
		t.Fatal(err)
	}
	c.click(source)
	if last := r.ran[len(r.ran)-1]; len(offered) != 1 || !strings.Contains(offered[0], "compiled from this file alone") || last.Build == "" {
		t.Errorf("after an edit: built by %q, offered %q", last.Build, offered)
	}
	quit(c)
}

// gcc compiles in a folder, where there is one; a machine without it has nothing to try.
func gcc(t *testing.T, dir string, words ...string) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not here")
	}
	cmd := exec.Command("gcc", words...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("gcc: %v: %s", err, out)
	}
}
