package taskgraph

// slack is, by task, by how much it could take longer before the critical path does.
func (g *Graph) slack() []int64 {
	until, _ := g.forward(nil)
	after := make([]int64, len(g.Tasks)) // the longest path behind each
	span := int64(0)
	for i := len(g.Tasks) - 1; i >= 0; i-- {
		span = max(span, until[i])
		for _, d := range g.dependences(i) {
			after[d] = max(after[d], after[i]+g.Tasks[i].NS)
		}
	}
	slack := make([]int64, len(g.Tasks))
	for i := range slack {
		slack[i] = span - until[i] - after[i]
	}
	return slack
}

// Slack is by how much the tasks of parts could take longer before the critical path does.
type Slack struct {
	g    *Graph
	part []int64 // by number; −1: it has no tasks that have a length
}

// Slack is that of all parts.
func (g *Graph) Slack() Slack {
	s := Slack{g, make([]int64, g.sections[len(g.numbers)])}
	for i := range s.part {
		s.part[i] = -1
	}
	for i, left := range g.slack() {
		t := &g.Tasks[i]
		if t.Of.Section < 0 || t.NS == 0 {
			continue
		}
		if now := &s.part[g.number(t.Of)]; *now < 0 || left < *now {
			*now = left
		}
	}
	return s
}

// Of is a part's; false: it has no tasks that have a length.
func (s Slack) Of(x Part) (left int64, ok bool) {
	left = s.part[s.g.number(x)]
	return left, left >= 0
}

// Sections is the least by section: 0 where the path leads through one. −1: it has no tasks.
func (s Slack) Sections() []int64 {
	least := make([]int64, len(s.g.numbers))
	for x := range least {
		least[x] = -1
		for _, left := range s.part[s.g.sections[x]:s.g.sections[x+1]] {
			if left >= 0 && (least[x] < 0 || left < least[x]) {
				least[x] = left
			}
		}
	}
	return least
}
