package report

import (
	"math"

	"github.com/skewlens/skewlens/attribution/taskgraph"
	"github.com/skewlens/skewlens/profile"
)

// LineSlack is by how much what one part does on a line may take longer before the
// critical path does: the least of all parts that come there (rule 27).
type LineSlack struct {
	Location *Location `json:"location"`
	WorkS    float64   `json:"work_s"` // of all parts there, as their instructions are: an estimate
	SlackS   float64   `json:"slack_s"`
}

// slackLines are the lines beside the path on which much of the work is.
func (x *pathBuilder) slackLines(c *CriticalPath, slack taskgraph.Slack) {
	p := x.b.p
	w := slackWork{p: p, blocks: make([]float64, len(p.Graph.Blocks)), own: make([]float64, len(p.Graph.Blocks)), least: make([]int64, len(p.Graph.Blocks))}
	for i := range w.least {
		w.least[i] = math.MaxInt64
	}
	for s := range p.Sections {
		for i := range p.Sections[s].Instances {
			for k := range p.Sections[s].Instances[i].Parts {
				if left, is := slack.Of(taskgraph.Part{Section: int32(s), Instance: int32(i), Part: int32(k)}); is {
					w.add(&p.Sections[s].Instances[i].Parts[k], left)
				}
			}
		}
	}
	byLine := map[int32]int64{}
	for b, n := range w.blocks {
		if n > 0 {
			key := x.b.lineOf(profile.BlockID(b))
			if now, is := byLine[key]; !is || w.least[b] < now {
				byLine[key] = w.least[b]
			}
		}
	}
	x.listSlack(c, w.blocks, byLine)
}

// slackWork is the work of blocks, and the least slack of the parts that come there.
type slackWork struct {
	p           *profile.Profile
	blocks, own []float64 // of all parts, and of one
	least       []int64
}

func (w *slackWork) add(q *profile.Part, left int64) {
	all := w.p.Instructions(q.Counts)
	if all == 0 {
		return
	}
	instructions(w.p, q.Counts, float64(q.BusyNS)/float64(all), w.own)
	for _, e := range q.Counts.Event {
		if b := w.p.Events[e].Block; b >= 0 && w.own[b] > 0 {
			w.blocks[b], w.own[b] = w.blocks[b]+w.own[b], 0
			w.least[b] = min(w.least[b], left)
		}
	}
}

// listSlack lists lines with work and with slack, those with most work first.
func (x *pathBuilder) listSlack(c *CriticalPath, blocks []float64, least map[int32]int64) {
	c.Slack = []LineSlack{}
	for _, l := range x.b.byLine(blocks) {
		if l.weight < pathLine*float64(x.g.BusyNS) || len(c.Slack) == pathLines {
			break
		}
		if left := least[l.number]; float64(left) >= pathLine*float64(x.path.NS) {
			at := x.b.lineAt(l.block)
			c.Slack = append(c.Slack, LineSlack{Location: &at, WorkS: round(l.weight / 1e9), SlackS: round(float64(left) / 1e9)})
		}
	}
}
