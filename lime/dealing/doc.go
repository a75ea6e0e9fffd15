// Package dealing says what another dealing of the same work would bring. A
// section's work is dealt out in units, the rounds of a loop; how much work each
// was is known (profile.Units). What the slowest part would have to do if they
// were dealt otherwise is then arithmetic:
//
//	units ─▶ dealt in blocks, in turns, on demand, longest first, … ─▶ the longest part ─▶ saving
//	      ─▶ the same at more threads ─▶ forecast
//
// It is a model: a unit costs the same whoever does it, what a part does besides
// its units stays its own, and dealing costs nothing.
package dealing
