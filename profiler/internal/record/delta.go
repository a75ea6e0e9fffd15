package record

import "sort"

// Merge sorts deltas and adds up equal ones.
func Merge(d []Delta) []Delta {
	sort.Slice(d, func(i, j int) bool { return d[i].Counter < d[j].Counter })
	return mergeSame(d)
}

// Add returns the sum of two sorted lists of deltas.
func Add(a, b []Delta) []Delta {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
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

// Sub returns a less b, of which a holds at least as much.
func Sub(a, b []Delta) []Delta {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return nil
	}
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
