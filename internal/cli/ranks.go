package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/skewlens/skewlens/internal/atomicfile"
	"github.com/skewlens/skewlens/internal/launch"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/ranks"
)

// findRank finds out which rank this process is of, and which file of the directory
// that --save names is its own. What an earlier run left of the rank goes: if this one
// leaves nothing, that must not be taken for it.
func (o *profileFlags) findRank() error {
	o.rank = launch.Rank(os.Getenv)
	if !strings.HasSuffix(o.save, "/") && !isDir(o.save) {
		if o.save != "" && o.rank != nil && o.rank.Size > 1 && !names(o.save, o.rank.Rank) {
			return usageError("--save %s: %d ranks would write the same file; name a directory: --save %s/", o.save, o.rank.Size, o.save)
		}
		return nil
	}
	o.ranks = o.save
	if o.rank == nil {
		host, _ := os.Hostname()
		o.rank = &profile.Rank{Size: 1, Host: host}
	}
	if err := os.MkdirAll(o.ranks, 0o777); err != nil {
		return atomicfile.Error("write", o.ranks, err)
	}
	if o.save = launch.File(o.ranks, o.rank); o.keeps() {
		return nil
	}
	// What becomes of one rank is the launcher's business: it ends the others if need be.
	o.propagate = o.propagate || o.rank.Launcher != ""
	launch.Forget(o.ranks, o.rank)
	return nil
}

// load reads a saved profile, or those of all ranks in a directory as one.
func load(name string) (*profile.Profile, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return loadRanks(name)
	}
	return read(name, profile.Read)
}

func loadRanks(dir string) (*profile.Profile, error) {
	unfinished := launch.Unfinished(dir, moment)
	files, err := launch.Files(dir)
	if err != nil {
		return nil, atomicfile.Error("read", dir, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read %s: no profile of a rank is in it; save them there: mpirun -n 4 skewlens profile --save %s/ -- program", dir, strings.TrimRight(dir, "/"))
	}
	var list []ranks.Source
	for _, f := range files {
		list = append(list, ranks.Source{Name: f,
			Head: func() (*profile.Profile, error) { return read(f, profile.ReadHead) },
			Read: func() (*profile.Profile, error) { return read(f, profile.Read) }})
	}
	p, err := ranks.Merge(list)
	if err != nil {
		return nil, fmt.Errorf("report on %s: %w", dir, err)
	}
	if len(unfinished) > 0 {
		p.Warnings = append([]profile.Warning{{Code: "unfinished-ranks", Message: fmt.Sprintf(
			"%s began, and left no profile: still running, or killed together with the profiler", ranks.Listed(unfinished))}}, p.Warnings...)
	}
	return p, nil
}

// moment is how long a rank may take to save what there is, once its launcher is gone.
const moment = 10 * time.Second

func read(name string, how func(r io.Reader) (*profile.Profile, error)) (*profile.Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, atomicfile.Error("read", name, err)
	}
	defer f.Close()
	p, err := how(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("read profile %s: %w", name, err)
	}
	return p, nil
}

// names reports whether a number stands in a path. Of ranks whose paths are all the same,
// none names them all.
func names(path string, n int) bool {
	for _, digits := range strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' }) {
		if got, err := strconv.Atoi(digits); err == nil && got == n {
			return true
		}
	}
	return false
}
