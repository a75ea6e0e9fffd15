package main

type tree struct{ left, right *tree }

func grow(depth int) *tree {
	mark()
	if depth == 0 {
		mark()
		return nil
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

func size(t *tree) int {
	if t == nil {
		mark()
		return 0
	}
	return 1 + size(t.left) + size(t.right)
}

// deep needs a larger stack again and again.
func deep(n int) int {
	mark()
	var room [32]int
	if n == 0 {
		mark()
		return 0
	}
	room[n%32] = n
	return deep(n-1) + room[n%32]
}

// enclosed calls what it has in a variable by that function's address, and needs a larger
// stack there.
func enclosed(n int) (s int) {
	add := func(k int) {
		mark()
		s += deep(k)
		for i := range k {
			mark()
			s += deep(i % 3)
		}
		s -= deep(n)
	}
	add(1)
	add(n)
	mark()
	add(2 * n)
	return s
}

func classify(n int) (s int) {
	for i := 0; i < n; i++ {
		switch i % 11 {
		case 0:
			mark()
			s++
		case 1:
			mark()
			s += 2
		case 2:
			mark()
			s += 4
		case 3, 4:
			mark()
			s -= 3
		case 5:
			mark()
			s ^= 1
		case 6:
			mark()
			s <<= 1
			s &= 0xff
		case 7:
			mark()
			s += i
		case 8:
			mark()
			s--
		case 9:
			mark()
			continue
		default:
			mark()
		}
		if s > 1000 {
			mark()
			s = 0
		}
	}
	return s
}

func words(k int) (out []string) {
	for i, w := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"} {
		switch w {
		case "alpha", "zeta":
			mark()
			out = append(out, w)
		case "gamma":
			mark()
			out = append(out, out...)
		default:
			if i > k {
				mark()
				return out
			}
			mark()
		}
	}
	return out
}

type number interface{ ~int | ~float64 }

func sums[T number](list []T) (sum T) {
	for _, x := range list {
		mark()
		sum += x
	}
	return sum
}

type shape interface{ area() int }

type (
	square int
	strip  struct{ a, b int }
)

func (s square) area() int {
	mark()
	return int(s) * int(s)
}

func (s *strip) area() int {
	mark()
	return s.a * s.b
}

func pipeline() int {
	in, out, stop := make(chan shape), make(chan int, 2), make(chan bool)
	go func() {
		for s := range in {
			mark()
			out <- s.area()
		}
		mark()
		close(out)
	}()
	go func() {
		for i := range 200 {
			mark()
			if i%3 == 0 {
				mark()
				in <- square(i)
			} else {
				mark()
				in <- &strip{i, 2}
			}
		}
		close(in)
		close(stop)
	}()
	sum := 0
	for {
		select {
		case n, ok := <-out:
			if !ok {
				mark()
				<-stop
				return sum
			}
			mark()
			sum += n
		}
	}
}
