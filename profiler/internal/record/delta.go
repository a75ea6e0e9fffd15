package record

import "slices"

// Merge sorts deltas and adds up equal ones.
func Merge(d []Delta) []Delta {
	if sums, ok := addUp(d, d); ok {
		return sums
	}
	slices.SortFunc(d, func(a, b Delta) int { return int(a.Counter) - int(b.Counter) })
	return mergeSame(d)
}

// A list of what a thread counted one record after the other, in which a
// counter may come again, is a log. Nothing is written to what has been logged:
// so a moment of it is kept by keeping the list, and what was counted between
// two moments is what lies behind the first.

// compactFrom is the length from which a log is summed before it grows.
const compactFrom = 1 << 12

// Log appends what a thread counted next.
func Log(log, next []Delta) []Delta {
	if len(log) == 0 {
		return slices.Clip(next)
	}
	if len(log) >= compactFrom && len(log)+len(next) > cap(log) {
		sum := Sum(log)
		log = slices.Grow(sum[:len(sum):len(sum)], len(sum)+compactFrom)
	}
	return append(log, next...)
}

// Sum is a log sorted, with each counter once: the list itself where it is so already.
func Sum(log []Delta) []Delta {
	if isSum(log) {
		return log
	}
	if sums, ok := addUp(nil, log); ok {
		return sums
	}
	return Merge(slices.Clone(log))
}

// Own is Sum to be kept: a list of its own, with no more room than it takes.
func Own(log []Delta) []Delta {
	if !isSum(log) {
		if sums, ok := addUp(nil, log); ok {
			return sums
		}
	}
	return slices.Clone(Sum(log))
}

// OwnIn is Own in the room of a list that is of no use any more, if it fits there and
// leaves little of it.
func OwnIn(room, log []Delta) []Delta {
	if n := len(log); n <= cap(room) && cap(room) <= 2*n && isSum(log) {
		return append(room[:0], log...)
	}
	return Own(log)
}

// isSum reports whether a log is sorted, with each counter once.
func isSum(log []Delta) bool {
	for i := 1; i < len(log); i++ {
		if log[i-1].Counter >= log[i].Counter {
			return false
		}
	}
	return true
}

// Add returns the sum of two logs.
func Add(a, b []Delta) []Delta {
	if len(a) == 0 {
		return Sum(b)
	}
	if len(b) == 0 {
		return Sum(a)
	}
	a, b = Sum(a), Sum(b)
	out := make([]Delta, 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case j == len(b) || i < len(a) && a[i].Counter < b[j].Counter:
			out = append(out, a[i])
			i++
		case i == len(a) || b[j].Counter < a[i].Counter:
			out = append(out, b[j])
			j++
		default:
			out = append(out, Delta{a[i].Counter, a[i].N + b[j].N})
			i, j = i+1, j+1
		}
	}
	return out
}

// Sub returns a less b, of which a holds at least as much: what a thread
// counted between two moments.
func Sub(a, b []Delta) []Delta {
	if len(b) == 0 {
		return a
	}
	if len(b) <= len(a) && &a[0] == &b[0] {
		return a[len(b):]
	}
	a, b = Sum(a), Sum(b)
	out := make([]Delta, 0, len(a))
	j := 0
	for _, x := range a {
		for j < len(b) && b[j].Counter < x.Counter {
			j++
		}
		if j < len(b) && b[j].Counter == x.Counter {
			x.N -= b[j].N
		}
		if x.N != 0 {
			out = append(out, x)
		}
	}
	return out
}

func mergeSame(d []Delta) []Delta {
	out := d[:0]
	for _, x := range d {
		if n := len(out); n > 0 && out[n-1].Counter == x.Counter {
			out[n-1].N += x.N
		} else {
			out = append(out, x)
		}
	}
	return out
}
