// Package workspace is what the server knows of a client's folders and files
// before any program is run: what is open, what can be run, and where sections
// may end.
//
//	folders ─▶ Root ◀─ .skewlens.toml, .vscode/launch.json: targets, suppressions, mistakes
//	             │
//	             ▼
//	         Workspace ─▶ text of a path: the open Document's, else the Disk's
//	             ▲
//	didOpen, ─▶ Document ◀─ lines on which a section may end: Programs (call sites), or a scan
//	didChange
//
// A [Workspace], and all that is in it, never changes; what happens makes
// another. So whoever answers a question looks at one moment of it, without a
// lock, for as long as that takes. What does change is behind it: the [Disk],
// which remembers the texts of files that are not open, and the [Programs],
// which remember call sites. Methods that read files say so.
//
// A workspace is somebody else's. Its configuration is read and never obeyed
// here: nothing is run, nothing written. What it names may be a pipe, a device
// or without end, so files are read by [Disk.Read] only.
package workspace
