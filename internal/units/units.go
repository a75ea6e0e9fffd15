// Package units writes numbers and names as people read them: percents,
// durations, counts, and whatever a program's symbols are called. All that
// skewlens shows is rounded here, so that the terminal, the page and the editor
// say the same of the same number.
package units

import (
	"fmt"
	"strconv"
)

// Percent writes a fraction: 0.413 is "41 %". Below one per cent it keeps one
// decimal, below a tenth it says only that, and nothing but 0 is "0 %".
func Percent(fraction float64) string {
	switch p := 100 * fraction; {
	case p >= 0.95 || p == 0:
		return fmt.Sprintf("%.0f %%", p)
	case p >= 0.095:
		return fmt.Sprintf("%.1f %%", p)
	}
	return "<0.1 %"
}

// Seconds writes seconds in the unit that suits them: 0.0412 is "41.2 ms".
func Seconds(s float64) string { return SecondsOf(s, s) }

// SecondsOf writes seconds in the unit that suits scale, so that two of them
// can be compared at a glance.
func SecondsOf(s, scale float64) string {
	switch {
	case scale >= 1:
		return Digits(s) + " s"
	case scale >= 1e-3:
		return Digits(s*1e3) + " ms"
	}
	return Digits(s*1e6) + " µs"
}

// Digits keeps two or three significant digits without an exponent.
func Digits(x float64) string {
	switch {
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// Count writes 1234567 as "1,234,567".
func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Compact writes a large number in at most five characters and a letter:
// 560123456 is "560 M".
func Compact(n uint64) string {
	for _, u := range []struct {
		size   float64
		letter string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}} {
		if float64(n) >= u.size {
			return Digits(float64(n)/u.size) + u.letter
		}
	}
	return Count(n)
}

// Plural writes "1 cause", "2 causes".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Ordinal is a place in an order, from 1: "3rd".
func Ordinal(n int) string {
	end := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}
