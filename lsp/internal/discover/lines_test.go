package discover

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// A program without debug information is offered to be built once more with it, all else
// as it was, and then it is of its file.
func TestBuiltAnew(t *testing.T) {
	for _, x := range []struct {
		name, program, first, build string
		files                       map[string]string
		before                      []string
	}{
		{"make", "app", "make app CC='cc -g' CXX='c++ -g' -B", "make app CC='cc -g' CXX='c++ -g'", map[string]string{
			"Makefile": "# -g is for the others\nCFLAGS = -O2\nall: app\napp: main.o help.o\n\t$(CC) -o $@ $^\ndebug: CFLAGS += -g\ndebug: app\nclean:\n\trm -f *.o app\n"}, []string{"make"}},
		{"make that cleans", "app", "make clean && make CC='cc -g' CXX='c++ -g'", "make CC='cc -g' CXX='c++ -g'", map[string]string{
			"Makefile": "app: main.o help.o\n\t$(CC) -o $@ $^\nclean :\n\trm -f *.o app\n"}, []string{"make"}},
		{"make that does not clean", "app", "make -C src CC='cc -g' CXX='c++ -g' -B", "make -C src CC='cc -g' CXX='c++ -g'", map[string]string{"src/Makefile": "app: app.o\n", "src/app.c": mainC + help}, []string{"make", "-C", "src"}},
		{"cmake", "app", "cmake out -DCMAKE_C_FLAGS='-O1 -g' && cmake --build out --target app", "cmake --build out --target app", map[string]string{
			"CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(app main.c help.c)\n"}, []string{"sh", "-c", "cmake -S . -B out -DCMAKE_C_FLAGS=-O1 && cmake --build out"}},
		{"meson", "app", "meson configure out -Ddebug=true && meson compile -C out", "meson compile -C out", map[string]string{
			"meson.build": "project('p', 'c')\nexecutable('app', 'main.c', 'help.c')\n"}, []string{"sh", "-c", "meson setup --buildtype=release out && meson compile -C out"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			for _, tool := range strings.Fields("gcc " + strings.Fields(x.first)[0]) {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("%s is not here", tool)
				}
			}
			x.files["main.c"], x.files["help.c"] = mainC, help
			dir := tree(t, x.files)
			compile(t, dir, x.before...)
			source := filepath.Join(dir, "main.c")
			if x.files["src/app.c"] != "" {
				source = filepath.Join(dir, "src/app.c")
			}
			found := New(&workspace.Disk{}).Find(dir, source)
			if len(found) < 2 || found[0].First != x.first || found[0].Build != x.build || filepath.Base(found[0].Program) != x.program || found[1].First != "" || found[1].Program != found[0].Program {
				t.Fatalf("offered %+v", found)
			}
			compile(t, dir, "sh", "-c", found[0].First)
			if all, near := New(&workspace.Disk{}).Made(dir, source); !near || len(all) != 1 || all[0].First != "" {
				t.Errorf("after it: %+v, near %v", all, near)
			}
			info, _ := os.Stat(found[0].Program)
			compile(t, dir, "sh", "-c", found[0].Build)
			if again, err := os.Stat(found[0].Program); err != nil || !again.ModTime().Equal(info.ModTime()) {
				t.Error("what is up to date was built again")
			}
		})
	}
}
