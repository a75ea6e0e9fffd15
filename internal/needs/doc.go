// Package needs stops the build where skewlens cannot work: it runs programs
// under ptrace and rewrites their x86-64 code. Import it, for nothing but that,
// from what needs Linux on x86-64.
//
//	elsewhere.go  does not compile, on all other systems
//
// Packages profile, lime and report know no system and do not import it.
package needs
