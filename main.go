// Skewlens shows on which source line the load imbalance of a parallel program
// begins, and what it costs. The command line is in internal/cli.
package main

import (
	"embed"

	"github.com/skewlens/skewlens/internal/cli"
	_ "github.com/skewlens/skewlens/internal/needs"
)

// The examples are embedded from here: they are C, and a folder with C files
// cannot be a Go package.
//
//go:embed examples/*.c examples/example.h
var examples embed.FS

func main() { cli.Main(examples) }
