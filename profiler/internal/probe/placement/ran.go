package placement

import "math"

// What ran in an earlier run of the program says better than the shape of its code
// what will run: how often each edge of a network was passed, one byte for each. It
// chooses among trees only; what is counted is the same with any.

// perDouble is how many bytes there are between a count and its double.
const perDouble = 4

// Ran packs the counts of a network's edges.
func Ran(counts []int64) []byte {
	b := make([]byte, len(counts))
	for i, n := range counts {
		if n > 0 {
			b[i] = 1 + byte(perDouble*math.Log2(float64(n)))
		}
	}
	return b
}

// Passed is how many edges that were packed were passed, about.
func Passed(ran []byte) (n float64) {
	for _, b := range ran {
		if b > 0 {
			n += often(b, 0)
		}
	}
	return n
}

// take has edges weigh what they did. What is packed of another graph is nothing. A
// function that calls the kernel is entered behind that by the threads and processes
// that come of it, and only some trees have counts of these that are possible.
func (w *Network) take(ran []byte) {
	if len(ran) != len(w.Edges) || w.Graph.CallsKernel() {
		return
	}
	for i := range w.Edges {
		switch e := &w.Edges[i]; {
		case e.cfg != nil:
			e.cfg.Freq = often(ran[i], e.cfg.Freq)
		case e.Hub == 0:
			e.block.Freq = often(ran[i], e.block.Freq)
		default:
			e.ran = often(ran[i], 0)
		}
	}
}

// often is how often an edge was passed. Of those that never were, the ones that
// looked likely are.
func often(ran byte, guess float64) float64 {
	if ran == 0 {
		return guess / (1 + guess) / 2
	}
	return amounts[ran-1]
}

// amounts are what a byte stands for, from 1 on.
var amounts = func() (list [255]float64) {
	for i := range list {
		list[i] = math.Exp2(float64(i) / perDouble)
	}
	return list
}()

// anything is what might have run, of a function with that first counter: for tests.
func (w *Network) anything(first int32) []byte {
	b := make([]byte, len(w.Edges))
	for i := range b {
		b[i] = byte((uint64(first)<<32 + uint64(i)) * 0x9e3779b97f4a7c15 >> 56)
	}
	return b
}
