// Package wire is the Language Server Protocol as bytes: messages in frames,
// what is handled when, and the shapes of parameters and answers.
//
//	reader ─▶ Stream ─▶ Dispatcher ─┬─ notifications, in order ─┬─▶ handle
//	                                ├─ requests, each on its own┘     │
//	                                └─ $/cancelRequest, at once       │
//	writer ◀─ queue ◀─ Stream ◀─────────── answers ◀──────────────────┘
//
// go.lsp.dev/jsonrpc2 pairs requests with answers; it is given a [Stream] of
// ours, which bounds what a message may take and never blocks when it writes,
// and a [Dispatcher] of ours, which lets no request hold up another and no
// panic end the connection.
//
// The types are those of go.lsp.dev/protocol, which is of version 3.15. Those
// here are what version 3.17 has more, and what the library's types cannot say
// (an absent range, a percentage of 0); the comment of each says which.
package wire
