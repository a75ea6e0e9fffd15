// Package examples holds the C programs of this directory, so that
// `skewlens demo` can build them on any machine. README.md says what each of
// them plants.
package examples

import "embed"

//go:embed *.c example.h
var Files embed.FS
