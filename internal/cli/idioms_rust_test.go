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
	if bytes.Contains(source, []byte("rayon::")) {
		need = "rayon = \"1\"\n"
	}
	level := strings.TrimPrefix(b.level, "-O")
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
	if _, err := os.Stat(crates); err != nil && strings.HasPrefix(i.name, "rayon") {
		missing = "librust-rayon-dev"
	}
	if _, err := os.Stat("/usr/include/oneapi/tbb.h"); err != nil && i.expect["link"] == "tbb" {
		missing = "libtbb-dev"
	}
	if missing != "" {
		t.Skipf("%s is not installed", missing)
	}
}
