package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

func TestStory(t *testing.T) {
	dir := folder(t)
	script, err := os.ReadFile("testdata/story.script")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("testdata/skewed.c")
	if err != nil {
		t.Fatal(err)
	}
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}, Cache: filepath.Join(t.TempDir(), "cache")})
	fill := func(v any) any { return v }
	fill = func(v any) any {
		switch v := v.(type) {
		case string:
			if v == "SOURCE" {
				return string(source)
			}
			if v == "U" {
				return string(workspace.FileURI(filepath.Join(dir, "skewed.c")))
			}
			if v == "D" || strings.HasPrefix(v, "D/") {
				return string(workspace.FileURI(dir)) + v[1:]
			}
		case map[string]any:
			for k := range v {
				v[k] = fill(v[k])
			}
		case []any:
			for i := range v {
				v[i] = fill(v[i])
			}
		}
		return v
	}
	for i, line := range strings.Split(string(script), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(line[1:]), &m); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		fill(m)
		if line[0] == '>' {
			c.send(m)
			continue
		}
		// An answer has to match what is asked of it; a notification may have
		// others before it.
		id, isAnswer := m["id"]
		if !isAnswer {
			c.await(m)
			continue
		}
		if got := c.await(map[string]any{"id": id}); !matches(map[string]any(got), any(m)) {
			t.Fatalf("line %d: got  %s\nwant %s", i+1, textual(got), textual(m))
		}
	}
	if err := <-c.ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
