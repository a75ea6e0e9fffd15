// Package discover finds what can be built and run, where nobody has said it: so
// that the first click on a lens needs no file to be written before.
//
//	opened file ─▶ programs in the folder that are made of it ──────────────┐
//	     │         (their debug information says so; else their symbols)    ├─▶ Candidates, the likeliest first
//	     └───────▶ the folders above it: CMakeLists.txt, Cargo.toml, go.mod, ┤
//	               meson.build, Makefile, configure                         │
//	                     └ none of them: the sources beside it, one with a main ─┘
//
// A candidate of a build system that has not been built yet has no program: it is
// looked for after the build, in the same way ([Finder.Made]).
//
// Nothing is run here, and nothing written: what is found is offered to a person.
// A workspace is somebody else's, so walks are bounded, links are not followed,
// and files are read by [workspace.Disk.Read] or by readers that bear anything.
package discover
