package report

import (
	"math"

	"github.com/skewlens/skewlens/attribution/taskgraph"
)

// LineSlack is by how much what one part does on a line may take longer before the
// critical path does: the least of all parts that come there (rule 27).
type LineSlack struct {
	Location *Location `json:"location"`
	WorkS    float64   `json:"work_s"` // of all parts there, as their instructions are: an estimate
	SlackS   float64   `json:"slack_s"`
}

// slackLines are the lines beside the path on which much of the work is.
func (x *pathBuilder) slackLines(c *CriticalPath) {
	p, slack := x.b.p, x.g.PartSlack()
	blocks, least := make([]float64, len(p.Graph.Blocks)), make([]int64, len(p.Graph.Blocks))
	for i := range least {
		least[i] = math.MaxInt64
	}
	own := make([]float64, len(p.Graph.Blocks))
	for s := range p.Sections {
		for i := range p.Sections[s].Instances {
			for k := range p.Sections[s].Instances[i].Parts {
				left, is := slack[taskgraph.Part{Section: int32(s), Instance: int32(i), Part: int32(k)}]
				q := &p.Sections[s].Instances[i].Parts[k]
				all := p.Instructions(q.Counts)
				if !is || all == 0 {
					continue
				}
				instructions(p, q.Counts, float64(q.BusyNS)/float64(all), own)
				for _, e := range q.Counts.Event {
					if b := p.Events[e].Block; b >= 0 && own[b] > 0 {
						blocks[b], own[b] = blocks[b]+own[b], 0
						least[b] = min(least[b], left)
					}
				}
			}
		}
	}
	byLine := map[Place]int64{}
	for b, n := range blocks {
		if n > 0 {
			_, key := lineKey(p, p.Graph.Blocks[b].Start)
			if now, is := byLine[key]; !is || least[b] < now {
				byLine[key] = least[b]
			}
		}
	}
	x.listSlack(c, blocks, byLine)
}

// listSlack lists lines with work and with slack, those with most work first.
func (x *pathBuilder) listSlack(c *CriticalPath, blocks []float64, least map[Place]int64) {
	c.Slack = []LineSlack{}
	for _, l := range byLine(x.b.p, blocks) {
		if l.weight < pathLine*float64(x.g.BusyNS) || len(c.Slack) == pathLines {
			break
		}
		if left := least[l.key]; float64(left) >= pathLine*float64(x.path.NS) {
			c.Slack = append(c.Slack, LineSlack{Location: &l.at, WorkS: round(l.weight / 1e9), SlackS: round(float64(left) / 1e9)})
		}
	}
}
