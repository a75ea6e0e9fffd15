// Package results is what runs have said, where in the files that stands now,
// and what of it outlives the server.
//
//	report ─▶ New ─▶ Result: sections, causes, notes, each with an Anchor in a file
//	                   │           ▲
//	                   │           └ Set.Follow (edits), Set.Settle (another text): where anchors
//	                   │             stand, and which files differ from what was run
//	                   ▼
//	        Kept ─▶ Store: one file for each target in the cache folder ─▶ Kept ─▶ New
//
// A [Result] and a [Set] never change once they are shared; an edit makes
// others, which share all but the positions. So a diagnostic is computed from
// one moment of them, without a lock, while the client types on.
//
// A result is stale when a file of its program is not what it was when the
// program ran (told by the files' digests, so an edit that is undone leaves no
// mark), or when the program was older than a file already then.
//
// The package words nothing and filters nothing: that is the handlers'.
package results
