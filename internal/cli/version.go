package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

func versionCommand(_ context.Context, stdout, _ io.Writer, args []string) error {
	if len(args) > 0 {
		return usageError("version takes no arguments, got %q", args[0])
	}
	_, err := fmt.Fprintf(stdout, "skewlens %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// released is the version of an archive; the linker writes it (see ./release).
var released string

// version is the release, the module's version, or the commit that was built.
func version() string {
	if released != "" {
		return strings.TrimPrefix(released, "v")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	v, changed := info.Main.Version, ""
	if v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changes"
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return v + changed
}
