package flowgraph

// Components finds the strongly connected components: by vertex, the number of
// its component, and how many there are. What a component leads to has smaller
// numbers. It follows R. Tarjan, Depth-First Search and Linear Graph Algorithms
// (1972).
func (g *Graph) Components() (of []int32, n int) {
	c := components{
		g: g, of: make([]int32, g.Len()), number: make([]int32, g.Len()), low: make([]int32, g.Len()), open: make([]bool, g.Len()),
	}
	for r := range int32(g.Len()) {
		if c.number[r] == 0 {
			c.visit(r)
		}
	}
	return c.of, int(c.n)
}

// components is the state of Tarjan's walk.
type components struct {
	g      *Graph
	of     []int32 // by vertex: its component
	n      int32
	count  int32
	number []int32 // by vertex: when the walk came to it, from 1; 0: not yet
	low    []int32 // by vertex: the smallest number of an open vertex that it is known to reach
	open   []bool  // by vertex: its component is not finished
	stack  []int32 // the open vertices
}

// visit walks everything that can be reached from r and was not visited.
func (c *components) visit(r int32) {
	type frame struct{ v, next int32 }
	walk := []frame{{c.enter(r), 0}}
	for len(walk) > 0 {
		top := &walk[len(walk)-1]
		v := top.v
		if to := c.g.Succ(v); int(top.next) < len(to) {
			w := to[top.next]
			top.next++
			if c.number[w] == 0 {
				walk = append(walk, frame{c.enter(w), 0})
			} else if c.open[w] {
				c.low[v] = min(c.low[v], c.number[w])
			}
			continue
		}
		walk = walk[:len(walk)-1]
		if len(walk) > 0 {
			up := walk[len(walk)-1].v
			c.low[up] = min(c.low[up], c.low[v])
		}
		if c.low[v] == c.number[v] {
			c.close(v)
		}
	}
}

func (c *components) enter(v int32) int32 {
	c.count++
	c.number[v], c.low[v], c.open[v] = c.count, c.count, true
	c.stack = append(c.stack, v)
	return v
}

// close makes a component of v and of what was entered since.
func (c *components) close(v int32) {
	for {
		w := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		c.open[w], c.of[w] = false, c.n
		if w == v {
			break
		}
	}
	c.n++
}
