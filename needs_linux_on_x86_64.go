//go:build !(linux && amd64)

package main

// Skewlens runs programs under ptrace and rewrites their x86-64 code, so the
// command does not build for anything else. The compiler stops here, at a name
// that says so. (Packages profile, lime and report know no system.)
var _ = skewlens_needs_linux_on_x86_64
