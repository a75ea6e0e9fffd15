package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// crates is where Debian keeps the sources of crates: nothing is fetched.
const crates = "/usr/share/cargo/registry"

// crate is one that idioms use: what a package says that does, and what Debian calls it.
type crate struct{ name, line, debian string }

var rustCrates = []crate{
	{"rayon", `rayon = "1"`, "librust-rayon-dev"},
	{"crossbeam_channel", `crossbeam-channel = "0.5"`, "librust-crossbeam-channel-dev"},
	{"parking_lot", `parking_lot = "0.12"`, "librust-parking-lot-dev"},
	{"threadpool", `threadpool = "1"`, "librust-threadpool-dev"},
	{"tokio", `tokio = { version = "1", features = ["rt-multi-thread"] }`, "librust-tokio-dev"},
}

// cratesOf are those that a source uses.
func cratesOf(source []byte) (list []crate) {
	for _, c := range rustCrates {
		if bytes.Contains(source, []byte("use "+c.name+"::")) || bytes.Contains(source, []byte(" "+c.name+"::")) {
			list = append(list, c)
		}
	}
	return list
}

// compileRust builds an idiom in Rust, as a package of its own. What it needs of
// others is built once for both twins, and for all idioms: all share a folder.
func (b *idiomBench) compileRust(out string) error {
	dir := filepath.Join(b.dir, out+".rust")
	source, err := os.ReadFile(filepath.Join(idiomDir, b.file))
	if err != nil {
		return err
	}
	common, err := os.ReadFile(filepath.Join(idiomDir, "idiom.rs"))
	if err != nil {
		return err
	}
	need := ""
	for _, c := range cratesOf(source) {
		need += c.line + "\n"
	}
	level := strings.TrimPrefix(b.level, "-O")
	if lto := b.expect["lto"]; lto != "" {
		level = fmt.Sprintf("%s\nlto = %q", strings.Replace(level, "0", "2", 1), lto) // without optimisation nothing is inlined
	}
	if panics := b.expect["panic"]; panics != "" {
		level += fmt.Sprintf("\npanic = %q\ncodegen-units = 1", panics)
	}
	files := map[string]string{
		"Cargo.toml":         fmt.Sprintf("[package]\nname = %q\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\nfixed = []\n[dependencies]\n%s[[bin]]\nname = %q\npath = \"src/%s\"\n[profile.release]\ndebug = true\nopt-level = %s\n", out, need, out, b.file, level),
		".cargo/config.toml": fmt.Sprintf("[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = %q\n", crates),
		"src/" + b.file:      string(source),
		"src/idiom.rs":       string(common),
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	words := []string{"build", "--release", "--offline", "--quiet", "--target-dir", filepath.Join(b.dir, "rust")}
	if out == "fixed" {
		words = append(words, "--features", "fixed")
	}
	cmd := exec.Command("cargo", words...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cargo build: %w: %s", err, bytes.TrimSpace(text))
	}
	return os.Rename(filepath.Join(b.dir, "rust", "release", out), filepath.Join(b.dir, out))
}

// builds skips where what an idiom is built with is not here.
func (i *idiom) builds(t *testing.T, v variant) {
	t.Helper()
	if _, err := exec.LookPath(v.compiler); err != nil {
		t.Skipf("no %s: the idioms are built with gcc and clang, gfortran, go and cargo", v.compiler)
	}
	missing := ""
	if _, err := exec.LookPath(fortran); err != nil && strings.HasSuffix(i.file, ".F90") {
		missing = fortran
	}
	for _, c := range cratesOf([]byte(strings.Join(i.lines, "\n"))) {
		if found, _ := filepath.Glob(filepath.Join(crates, strings.ReplaceAll(c.name, "_", "?")+"-[0-9]*")); len(found) == 0 {
			missing = c.debian
		}
	}
	if _, err := os.Stat("/usr/include/oneapi/tbb.h"); err != nil && i.expect["link"] == "tbb" {
		missing = "libtbb-dev"
	}
	if missing != "" {
		t.Skipf("%s is not installed", missing)
	}
}
