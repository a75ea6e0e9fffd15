package native

import (
	"debug/elf"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/backend"
)

// LeakSanitizer, which is part of AddressSanitizer, traces the program when it
// ends (ptrace), and nobody can be traced twice: it then ends the program, before
// that has written all it has to.

// looksForLeaks refuses a program that would end so.
func looksForLeaks(program string, env []string) error {
	f, err := elf.Open(program)
	if err != nil {
		return nil // whoever reads it says so
	}
	defer f.Close()
	libs, _ := f.ImportedLibraries()
	libs = append(libs, strings.FieldsFunc(variable(env, "LD_PRELOAD"), func(r rune) bool { return r == ' ' || r == ':' })...)
	name := ""
	for _, l := range libs {
		for _, kind := range []string{"asan", "lsan"} {
			if base := path.Base(l); strings.HasPrefix(base, "lib"+kind+".") || strings.HasPrefix(base, "libclang_rt."+kind) {
				name = kind
			}
		}
	}
	syms, _ := f.DynamicSymbols()
	has := func(name string) bool {
		return slices.ContainsFunc(syms, func(s elf.Symbol) bool { return s.Name == name && s.Section != elf.SHN_UNDEF })
	}
	if has("__lsan_do_leak_check") {
		name = "lsan"
		if has("__asan_init") {
			name = "asan"
		}
	}
	if name == "" || !detectsLeaks(env) {
		return nil
	}
	return &backend.Unavailable{Err: fmt.Errorf("%s is built with LeakSanitizer, which uses ptrace, as this backend does: run it with %s_OPTIONS=detect_leaks=0",
		program, strings.ToUpper(name))}
}

// detectsLeaks reports whether the environment leaves LeakSanitizer on.
func detectsLeaks(env []string) bool {
	on := true
	for _, v := range []string{"ASAN_OPTIONS", "LSAN_OPTIONS"} {
		for _, o := range strings.FieldsFunc(variable(env, v), func(r rune) bool { return strings.ContainsRune(" ,:\n\t\r", r) }) {
			if x, ok := strings.CutPrefix(o, "detect_leaks="); ok {
				on = !slices.Contains([]string{"0", "no", "false"}, strings.Trim(x, `'"`))
			}
		}
	}
	return on
}

// variable is one of an environment; "" where it is not set.
func variable(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
