package lime

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// scene is everything about one instance (or several pooled ones) on the way
// to its causes.
type scene struct {
	finder
	ranked bool
	idle   float64
	resp   []float64 // T
	tc     []float64 // T, centred
	tss    float64   // ‖tc‖²
	r2     float64
	found  []found
}

// key says that two instances have the same cause: the same leader, kind of
// decision and target. A loop or a recursion is one cause whatever edge of it
// happens to follow T best; START causes are told apart by address, hardware
// events by event.
type key struct {
	kind  LeaderKind
	v, to profile.BlockID
	addr  profile.Addr
	event profile.EventID
}

// found is a cause in one instance.
type found struct {
	key
	by                    leader
	share, score, beta, p float64
	k                     []float64 // what it costs in units of T, per part; nil: unknown
	whole                 bool      // its work comes in units, one per execution
}

// scene runs the stages on some instances: table, costs, clusters, leaders,
// and one of the three ways to tell which leaders explain T.
func (a *Analyser) scene(opt Options, runs ...*run) *scene {
	t := newTable(len(a.p.Events), runs...)
	sc := &scene{finder: finder{g: a.g, src: a.src, t: t, stop: opt.Stop}}
	for _, r := range runs {
		sc.resp = append(sc.resp, r.resp...)
		sc.idle += r.idle
		sc.ranked = sc.ranked || r.ranked
	}
	sc.tc = t.centre(sc.resp)
	sc.tss = floats.Dot(sc.tc, sc.tc)
	if sc.tss == 0 {
		return sc
	}
	sc.unit = t.unit(sc.resp)
	sc.c = newCosts(a.g, t)
	counted := opt.Response == profile.Instructions
	sc.cs = newClusters(a.g, t, !counted, string(opt.Response), opt.Stop, opt.Bulk)
	switch {
	case opt.Method == Paper:
		sc.byPaper()
	case counted:
		sc.byPursuit()
	default:
		sc.byRegression()
	}
	return sc
}

func (sc *scene) add(f found) { sc.found = append(sc.found, f) }

// key returns what tells a leader from others in the code; see sources.key.
func (x *leader) key() key {
	k := key{kind: x.kind, v: x.v, event: profile.NoEvent, to: profile.NoBlock}
	if x.kind == Branch {
		k.to = x.to
	}
	return k
}

// byPursuit chooses by exact costs (rule 7).
func (sc *scene) byPursuit() {
	p := newPursuit(sc.t, sc.tc, sc.withCopies(sc.leaders()))
	p.run()
	var keys []key
	by := map[key]leader{}
	for _, j := range p.chosen {
		x := p.cand[j].leader
		k := sc.src.key(&x)
		if old, ok := by[k]; ok {
			x = sc.join(old, x) // copies that the pursuit took one by one
		} else {
			keys = append(keys, k)
		}
		by[k] = x
	}
	for _, k := range keys {
		x := by[k]
		kc := sc.t.centre(x.k)
		beta := math.Sqrt(floats.Dot(kc, kc) / sc.tss)
		sc.add(found{
			key: k, by: x, k: x.k, whole: true,
			share: floats.Dot(kc, sc.tc) / sc.tss, beta: beta, score: beta * x.s, p: math.NaN(),
		})
	}
	if p.left() > looseOver && !sc.ranked && len(sc.t.groups) == 1 {
		sc.byStart(p)
	}
	sc.r2 = 1 - p.left()
}

// byStart is the last resort of rule 7: threads that begin the instance at
// different code. What lies between such groups was decided before the
// section began.
func (sc *scene) byStart(p *pursuit) {
	var begins []profile.Addr
	sum, n := map[profile.Addr]float64{}, map[profile.Addr]float64{}
	for i := range sc.t.parts {
		b := sc.t.parts[i].Begin
		if n[b] == 0 {
			begins = append(begins, b)
		}
		sum[b] += p.rest[i]
		n[b]++
	}
	if len(begins) < 2 || n[0] > 0 {
		return // all alike, or not known of some
	}
	least := math.Inf(1)
	for _, b := range begins {
		least = min(least, sum[b]/n[b])
	}
	k := make([]float64, len(sc.resp))
	for i := range k {
		b := sc.t.parts[i].Begin
		k[i] = sum[b]/n[b] - least
	}
	kc := sc.t.centre(k)
	rest := append([]float64(nil), p.rest...)
	floats.Sub(rest, kc)
	if floats.Dot(p.rest, p.rest)-floats.Dot(rest, rest) <= looseOver*sc.tss {
		return
	}
	p.rest = rest
	slow, most := profile.Addr(0), math.Inf(-1)
	for _, b := range begins {
		mean := 0.0
		for i := range sc.resp {
			if sc.t.parts[i].Begin == b {
				mean += sc.resp[i] / n[b]
			}
		}
		if mean > most {
			slow, most = b, mean
		}
	}
	norm := floats.Dot(kc, kc)
	beta, r := math.Sqrt(norm/sc.tss), floats.Dot(kc, sc.tc)/math.Sqrt(norm*sc.tss)
	sc.add(found{
		key:   key{kind: StartAt, v: profile.NoBlock, to: profile.NoBlock, addr: slow, event: profile.NoEvent},
		by:    leader{v: profile.NoBlock, kind: StartAt, edge: -1, event: profile.NoEvent, to: profile.NoBlock, cluster: -1, s: r, r: r, k: k},
		share: beta * r, score: beta * r, beta: beta, p: math.NaN(), k: k,
	})
}

// byRegression is the paper's regression, repaired (rule 8).
func (sc *scene) byRegression() {
	leaders := make([][]leader, len(sc.cs.size))
	for _, x := range sc.leaders() {
		leaders[x.cluster] = append(leaders[x.cluster], x)
	}
	for l := range leaders {
		leaders[l] = sc.joinCopies(leaders[l])
	}
	var ids []int
	var columns [][]float64
	for _, l := range sc.cs.bySize() {
		if (len(leaders[l]) > 0 || !sc.cs.control[l]) && floats.Dot(sc.cs.unit[l], sc.unit) > 0 {
			ids, columns = append(ids, l), append(columns, sc.cs.unit[l])
		}
	}
	df := len(sc.resp) - len(sc.t.groups)
	fit := forward(sc.unit, columns, selection{df: df, terms: max(1, df/3), enough: 0.999, correct: true, positive: true})
	sc.r2 = fit.r2
	for i, j := range fit.chosen {
		if l := ids[j]; sc.cs.control[l] {
			sc.split(leaders[l], fit.beta[i], fit.p[i])
		} else {
			sc.hardware(l, fit.beta[i], fit.p[i])
		}
	}
}

// split shares a control-flow cluster's coefficient out over its leaders, by
// how much of T's variation each one's cost covers.
func (sc *scene) split(leaders []leader, beta, p float64) {
	all := floats.Sum(sc.c.own)
	if all == 0 {
		return // nothing was executed that is known
	}
	perInstruction := floats.Sum(sc.resp) / all
	cov, total := make([]float64, len(leaders)), 0.0
	for i, x := range leaders {
		cov[i] = max(0, perInstruction*floats.Dot(sc.t.centre(x.k), sc.tc))
		total += cov[i]
	}
	for i, x := range leaders {
		if cov[i] == 0 {
			continue
		}
		k := append([]float64(nil), x.k...)
		floats.Scale(perInstruction, k)
		sc.add(found{
			key: sc.src.key(&x), by: x, k: k, whole: true,
			share: cov[i] / sc.tss, beta: beta, score: beta * x.s * cov[i] / total, p: p,
		})
	}
}

// hardware makes a cause of each event of a hardware cluster. All have the
// cluster's coefficient as score (3.5); its part of T's variation is shared
// out by how much their counts vary.
func (sc *scene) hardware(l int, beta, p float64) {
	r := floats.Dot(sc.cs.unit[l], sc.unit)
	var events []profile.EventID
	var sd []float64
	for _, e := range sc.cs.events {
		if sc.cs.label[e] == l {
			v, _ := sc.t.adjusted(sc.g.p.Events, e)
			events, sd = append(events, e), append(sd, floats.Norm(v, 2))
		}
	}
	total := floats.Sum(sd)
	for i, e := range events {
		w := sd[i] / total
		k := append([]float64(nil), sc.cs.unit[l]...)
		floats.Scale(w*beta*math.Sqrt(sc.tss), k)
		sc.add(found{
			key:   key{v: profile.NoBlock, to: profile.NoBlock, event: e},
			by:    leader{v: profile.NoBlock, edge: -1, event: e, to: profile.NoBlock, cluster: l, s: math.NaN()},
			share: w * beta * r, beta: beta, score: beta, p: p, k: k,
		})
	}
}
