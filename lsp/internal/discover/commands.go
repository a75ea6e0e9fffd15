package discover

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// entry is one of a compile_commands.json: how a file is compiled.
type entry struct {
	Directory string   `json:"directory"`
	File      string   `json:"file"`
	Command   string   `json:"command"`
	Arguments []string `json:"arguments"`
}

// compiled is how the nearest compile_commands.json has a file compiled, without what
// says what comes of it; nil where none knows the file, or in words that only a shell
// understands.
func (f *Finder) compiled(root, path string) (words []string) {
	for _, dir := range above(root, filepath.Dir(path)) {
		for _, sub := range []string{"", "build", "builddir", "out"} {
			text, ok := f.text(filepath.Join(dir, sub, "compile_commands.json"))
			var entries []entry
			if !ok || json.Unmarshal([]byte(text), &entries) != nil {
				continue
			}
			for _, e := range entries {
				if at := filepath.Join(e.Directory, e.File); at == path || filepath.Clean(e.File) == path {
					return linking(e)
				}
			}
		}
	}
	return nil
}

// separate are options whose value is the next word, which are left out with it.
var separate = []string{"-o", "-MF", "-MT", "-MQ"}

// linking is a command that links too, with folders as they are from everywhere.
func linking(e entry) (out []string) {
	words := e.Arguments
	if len(words) == 0 {
		if strings.ContainsAny(e.Command, "'\"\\$`;&|<>") {
			return nil
		}
		words = strings.Fields(e.Command)
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case slices.Contains(separate, w):
			i++
		case w == "-c" || w == "-MD" || w == "-MMD" || w == e.File:
		case w == "-I" || w == "-isystem" || w == "-include":
			if out = append(out, w); i+1 < len(words) {
				i++
				out = append(out, workspace.Quote(from(e.Directory, words[i])))
			}
		case strings.HasPrefix(w, "-I"):
			out = append(out, "-I"+workspace.Quote(from(e.Directory, w[2:])))
		default:
			out = append(out, workspace.Quote(w))
		}
	}
	return out
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
