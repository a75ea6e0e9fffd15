package dwarfmap

import "testing"

// TestDemangled: names of C++ and Rust, with what compilers put behind them; in older
// Rust's there are dots.
func TestDemangled(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN4solv4gridEi":                           "solv::grid",
		"_ZN4solv4gridEi.part.0":                    "solv::grid.part.0",
		"main._omp_fn.0":                            "main._omp_fn.0",
		"_Znot.a.name":                              "_Znot.a.name",
		"_ZN4demo4sort17h72baf3432fcb62dbE":         "demo::sort",
		"_ZN4demo4sort17h72baf3432fcb62dbE.llvm.12": "demo::sort.llvm.12",
		"_ZN69_$LT$demo..quicksort..Parallel$u20$as$u20$demo..quicksort..Joiner$GT$4join17h72baf3432fcb62dbE": "<demo::quicksort::Parallel as demo::quicksort::Joiner>::join",
	} {
		if got := demangled(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
