// Package lsp shows findings in editors: a server of the Language Server
// Protocol, over any reader and writer.
//
//	client ─▶ stream ─▶ chain ─┬─ notifications, in order ─▶ documents ─▶ anchors moved
//	                           └─ requests, each on its own ─▶ handlers       │
//	     ◀─ diagnostics, refreshes, progress ◀─ results ◀── report ◀── Runner ┘
//
// The package starts no process and opens no network connection but a report
// on the loopback interface. What runs programs is handed in as a [Runner],
// and is called only from a command that a person sent. Nothing is written
// outside the cache folder.
//
// A result is a report and the places in it as anchors: points in files that
// move with every edit, so that a finding stays on its line. Positions exist
// in three forms: the report's (lines and byte columns, from 1), anchors'
// (lines and byte columns, from 0), the protocol's (UTF-16 unless agreed
// otherwise). All arithmetic between them is in mapper.go.
//
// One lock guards all state. Handlers take it for short; what waits (a run, a
// question to the client) does so without it.
//
// What clients can rely on is in README.md beside this file.
package lsp
