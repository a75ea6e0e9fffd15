// Package ranks makes one profile of those of a program's ranks: of the processes
// that mpirun or srun starts, on one machine or on a thousand, each of which is
// profiled by itself.
//
//	files, one a rank ─▶ survey: who is there, what code ran, how much at which call
//	                        │      graph: one for all     calls: the same one of all ranks
//	                        ▼
//	                     choose: the calls that lost most are kept one by one
//	                        │
//	files again ──────▶ fill: counts, as the common graph numbers them ─▶ *profile.Profile
//
// A collective call is the same one on all ranks that say so (profile.MPICall), and
// the parts of that instance are theirs. What is not kept one by one is added up by
// rank of work, as in profile.Instance.Folded: so memory is bounded by the number of
// sections and the width of one call, and each file is read twice, one or two at a
// time. Counts need no clock, so what is exact for one rank is exact for all.
//
// What cannot be compared is left out, and said: ranks that are missing, ran other
// code, or were started with other arguments.
package ranks
