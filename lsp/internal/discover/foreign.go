package discover

import "path/filepath"

// foreign are build systems that say to people, but not to us, which program comes of a
// file: what a person could type, with debug information.
var foreign = []struct{ file, example string }{
	{"build.zig", "zig build -Doptimize=ReleaseSafe && zig-out/bin/NAME"},
	{"Package.swift", "swift build -c release -Xcc -g && .build/release/NAME"},
	{"alire.toml", "alr build --release && bin/NAME"},
	{"*.gpr", "gprbuild -P NAME.gpr -cargs -g && ./NAME"},
	{"shard.yml", "shards build --release --debug && bin/NAME"},
	{"MODULE.bazel", "bazel build -c opt --copt=-g --strip=never //:NAME && bazel-bin/NAME"},
	{"WORKSPACE*", "bazel build -c opt --copt=-g --strip=never //:NAME && bazel-bin/NAME"},
	{".buckconfig", "buck2 build //:NAME --out out/NAME && out/NAME"},
	{".gn", "gn gen out --args=symbol_level=1 && ninja -C out && out/NAME"},
	{"premake5.lua", "premake5 gmake2 && make config=release && bin/NAME"},
	{"Tupfile*", "tup && ./NAME"},
	{"buildfile", "b config.cxx.coptions=-g && ./NAME"},
	{"stack.yaml", "stack build --copy-bins --local-bin-path bin && bin/NAME"},
	{"cabal.project", "cabal install --installdir=bin && bin/NAME"},
	{"*.cabal", "cabal install --installdir=bin && bin/NAME"},
	{"setup.py", "python3 setup.py build_ext --inplace && python3 script.py"},
	{"pyproject.toml", "pip install -e . && python3 script.py"},
	{"binding.gyp", "npx node-gyp rebuild && node script.js"},
	{"justfile", "just build && ./NAME"},
	{"Taskfile.y*ml", "task build && ./NAME"},
	{"build.sh", "./build.sh && ./NAME"},
	{"Dockerfile", "./NAME"},
}

// Foreign is the file by which a build system is known that has to be told what to run,
// the nearest above a file, and what could be typed for it.
func (f *Finder) Foreign(root, path string) (file, example string) {
	for _, dir := range above(root, filepath.Dir(path)) {
		f.disk.Uses("read", dir)
		for _, b := range foreign {
			if found, _ := filepath.Glob(filepath.Join(dir, b.file)); len(found) > 0 && f.file(found[0]) {
				return relative(root, found[0]), b.example
			}
		}
	}
	return "", ""
}

// Libraries are the shared libraries in a folder that are made of a file.
func (f *Finder) Libraries(root, path string) (found []string) {
	for _, p := range f.programs(root) {
		if !p.runs && p.made(path, path) > 1 {
			found = append(found, p.path)
		}
	}
	return found
}
