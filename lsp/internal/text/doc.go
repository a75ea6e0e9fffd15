// Package text is the texts of files as an editor has them, and the places in
// them that findings stand at.
//
//	protocol.Position ─▶ Encoding ─▶ Point ─▶ Anchor: a point when the program ran, and its line
//	                                   ▲         │ Settle: found again in a text of any history
//	content change ─▶ Text.Apply ─▶ Edit ────────┘ Follow: moved with the characters around it
//
// A [Text] never changes; an edit makes another. Positions exist in three
// forms: a report's (lines and byte columns, from 1), a [Point] (lines and byte
// columns, from 0), the protocol's (lines from 0, and characters as the client
// counts them: UTF-16 unless agreed otherwise). All arithmetic between the last
// two is here, and so is all that moves a point: what a client's edit does to
// it, and where its line went in a text that somebody else wrote.
//
// The package reads no files and knows of no findings.
package text
