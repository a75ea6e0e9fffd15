// Package backend is the contract between package profiler and what counts for
// it. A backend runs a program and delivers counts, threads and sections; all
// that is the same for every backend, profiler does itself.
//
//	profiler.Config ─▶ Job ─▶ Backend: native, perf; later valgrind
//	                             │
//	                             ▼
//	                          Outcome ─▶ profiler: threads' start functions, coverage,
//	                                     source lines, warnings, validity ─▶ *profile.Profile
//
// A new backend is a package that implements [Backend] and an entry of the
// table in package profiler, which it must not import. Sections come from what
// threads do, whoever tells it: see package section, whose tracker takes the
// records (package record) of any backend.
package backend
