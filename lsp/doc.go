// Package lsp shows findings in editors: a server of the Language Server
// Protocol, over any reader and writer.
//
//	client ─▶ internal/wire ─┬─ notifications, in order ─▶ internal/workspace: documents, folders, what to run
//	   ▲                     └─ requests, each on its own      │          │ edits move what was found
//	   │                              │                        ▼          ▼
//	   │◀─ lenses, hovers, hints ◀─ view ◀─────────────────── state ◀─ internal/results: reports, and where they stand
//	   └── diagnostics, refreshes ◀─┘                                      ▲
//	                                                Runner ─▶ report ──────┘
//
// The package starts no process and opens no network connection but a report
// on the loopback interface. What runs programs is handed in as a [Runner],
// and is called only from a command that a person sent. Nothing is written
// outside the cache folder.
//
// Each method of the protocol has a file of its name with its handler, and so
// has each command, but for the short ones beside what they are about. A
// handler takes a view, which is the server at one moment and does not change,
// and makes its answer of that. One lock guards the state that views are
// copied from; it is held for no longer than that copy takes (state.go).
//
// What clients can rely on is in README.md beside this file.
package lsp
