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

// Slack is, by section, by how much its tasks could take longer before the
// critical path does: 0 where the path leads through one. −1: it has no tasks.
func (g *Graph) Slack(sections int) []int64 {
	least := make([]int64, sections)
	for i := range least {
		least[i] = -1
	}
	for of, left := range g.PartSlack() {
		if s := of.Section; least[s] < 0 || left < least[s] {
			least[s] = left
		}
	}
	return least
}

// PartSlack is, by part of a section, by how much its tasks could take longer before the
// critical path does. Parts without tasks that have a length are not there.
func (g *Graph) PartSlack() map[Part]int64 {
	least := map[Part]int64{}
	for i, left := range g.slack() {
		of := g.Tasks[i].Of
		if of.Section < 0 || g.Tasks[i].NS == 0 {
			continue
		}
		if now, is := least[of]; !is || left < now {
			least[of] = left
		}
	}
	return least
}
