package dwarfmap

import "strings"

// Types and values within names in D, which are read over.

// modifiers of what a type or a method is of: const, immutable, shared, inout.
func (r *dName) modifiers() {
	for r.skip("xyO") || r.word("Ng") {
	}
}

// kind reads a type.
func (r *dName) kind() {
	r.within(func() {
		r.modifiers()
		switch c := r.peek(); {
		case c == 0:
			r.bad = true
		case c == 'Q':
			r.back(r.kind)
		case r.skip("AP"):
			r.kind()
		case r.skip("G"):
			r.number()
			r.kind()
		case r.skip("H"):
			r.kind()
			r.kind()
		case r.word("Nh"):
			r.kind()
		case r.word("Nn"):
		case r.skip("ICSET"):
			r.qualified()
		case r.skip("D"):
			r.modifiers()
			if r.peek() == 'Q' {
				r.back(r.kind)
				return
			}
			r.closure()
		case r.skip("B"):
			for !r.bad && !r.skip("Z") {
				r.kind()
			}
		case r.skip("z"):
			r.at++
		case strings.IndexByte("FUWRY", c) >= 0:
			r.closure()
		default:
			r.bad = r.bad || !r.skip("vghstiklmfdeopjqrcbauwn")
		}
	})
}

// closure reads the type of a function, with what it returns.
func (r *dName) closure() {
	r.bad = r.bad || !r.function()
	r.kind()
}

// function reads the type of a function without what it returns, if that is what comes.
func (r *dName) function() bool {
	if !r.skip("FUWVRY") {
		return false
	}
	for c := r.peek(); c == 'N' && r.at+1 < len(r.s) && strings.IndexByte("abcdefijlm", r.s[r.at+1]) >= 0; c = r.peek() {
		r.at += 2
	}
	r.within(func() {
		for !r.bad && !r.skip("XYZ") {
			for r.skip("MIJKL") || r.word("Nk") {
			}
			r.kind()
		}
	})
	return !r.bad
}

// value reads an argument of a template that is one.
func (r *dName) value() {
	r.within(func() {
		switch c := r.peek(); {
		case r.skip("n"):
		case r.skip("iN"), c >= '0' && c <= '9':
			r.number()
		case r.skip("e"):
			r.real()
		case r.skip("c"):
			r.real()
			r.skip("c")
			r.real()
		case r.skip("awd"):
			if n := r.number(); r.skip("_") && 2*n <= len(r.s)-r.at {
				r.at += 2 * n
				return
			}
			r.bad = true
		case r.skip("AS"):
			for n := r.number(); n > 0 && !r.bad; n-- {
				r.value()
			}
		case r.skip("f"):
			r.symbol()
		default:
			r.bad = true
		}
	})
}

// real reads a number with a binary exponent, or none that is finite.
func (r *dName) real() {
	if r.word("NAN") || r.word("INF") || r.word("NINF") {
		return
	}
	r.skip("N")
	for r.skip("0123456789ABCDEF") {
	}
	if r.skip("P") {
		r.skip("N")
		r.number()
	}
}
