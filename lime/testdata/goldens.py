#!/usr/bin/python3
"""Writes the numbers that lime is compared with; see README.md.

  goldens.py                          linkage.json and regression.json: scipy and statsmodels on random tables
  goldens.py --table ORACLE BINARY PREFIX NAME
                                      NAME.json: a real table (a dump of exact counts) as a profile, with what the
                                      Python prototype of the rules in the folder ORACLE makes of it
"""
import json, sys
import numpy as np


def save(name, data):
    with open(name, "w") as f:
        json.dump(data, f, separators=(",", ":"), sort_keys=True)
        f.write("\n")


def linkages():
    from scipy.cluster.hierarchy import linkage, fcluster
    cases, rng = [], np.random.default_rng(1)
    for k in range(40):
        n, p = int(rng.integers(2, 120)), int(rng.choice([3, 4, 5, 8, 16, 32]))
        base = rng.integers(0, 50, (int(rng.integers(1, 8)), p)).astype(float)
        x = base[rng.integers(0, len(base), n)] * rng.integers(1, 9, (n, 1)) + rng.normal(0, rng.choice([0.05, 0.5, 2, 20]), (n, p))
        x = np.round(x, 3)
        for stop in (0.8, 0.9, 0.98):
            lab = fcluster(linkage(x, method="average", metric="correlation"), 1 - stop, criterion="distance")
            first = {}
            cases.append({"x": x.tolist(), "stop": stop, "label": [first.setdefault(int(l), len(first)) for l in lab]})
        if len(cases) > 2:  # one table, three thresholds
            cases[-1]["x"] = cases[-2]["x"] = None
    save("linkage.json", cases)


def regressions():
    import statsmodels.api as sm
    cases, rng = [], np.random.default_rng(2)
    for k in range(60):
        n, m = int(rng.choice([5, 8, 12, 16, 32, 64])), int(rng.integers(1, 9))
        c = rng.normal(0, 1, (m, n))
        if k % 3 == 0 and m > 2:
            c[1] = c[0] + 0.1 * c[1]
        w = rng.choice([0, 0, 1, 2, -1], m)
        y = w @ c + rng.normal(0, rng.choice([0.01, 0.3, 1, 5]), n)
        z = lambda a: (a - a.mean(-1, keepdims=True)) / a.std(-1, keepdims=True)
        y, c = z(y), z(c)
        chosen, ps = [], []
        rss = float(y @ y)
        while len(chosen) < n - 2:
            fits = {j: sm.OLS(y, np.column_stack([c[i] for i in chosen + [j]] + [np.ones(n)])).fit() for j in range(m) if j not in chosen}
            if not fits:
                break
            j = min(fits, key=lambda j: fits[j].ssr)
            r = fits[j]
            small = sm.OLS(y, np.column_stack([c[i] for i in chosen] + [np.ones(n)])).fit()
            if r.df_resid < 1:
                break
            p = float(r.compare_f_test(small)[1])
            if p >= 0.05:
                break
            chosen.append(j)
            ps.append(p)
        fit = sm.OLS(y, np.column_stack([c[i] for i in chosen] + [np.ones(n)])).fit()
        cases.append({"y": np.round(y, 12).tolist(), "c": np.round(c, 12).tolist(), "chosen": chosen, "p": ps,
                      "beta": fit.params[:len(chosen)].tolist(), "r2": float(fit.rsquared) if chosen else 0.0})
    save("regression.json", cases)


def table(oracle, binary, prefix, name):
    sys.path.insert(0, oracle)
    import lime
    g = lime.Graph(prefix)
    secs = {}
    for site, sh in lime.instances(g):
        secs.setdefault(site, []).append(sh)

    def analysed(rules, stop):
        best = None
        for site, shs in secs.items():
            rs = [lime.analyse(g, sh, rules, None, stop, 1) for sh in shs]
            idle = sum(r["idle"] for r in rs)
            if best is None or idle > best[0]:
                best = (idle, site, shs, rs)
        return best
    idle, site, shs, rs = analysed("exact", 0.98)
    num, blocks, funcs = {}, [], []
    for fi, f in enumerate(g.funcs):
        ent = g.entry(fi)
        funcs.append({"name": f["name"], "entry": f["lo"], "end": f["hi"], "first": len(blocks), "n": len(f["blocks"])})
        for bi, b in sorted(enumerate(f["blocks"]), key=lambda x: x[1]["s"]):
            num[fi, bi] = len(blocks)
            blocks.append([fi, b["s"], b["e"], b["l"], b["n"]])
        funcs[-1]["entry_block"] = num[ent]
    events, edges = [["b", i] for i in range(len(blocks))], []
    counts = [None] * len(blocks)
    for v, i in num.items():
        counts[i] = g.selfcount[v]
    kinds = {"cfg": 1, "table": 3, "call": 4, "root": 7, "pad": 8}  # profile.EdgeKind
    for e in g.edges:
        src, dst = -1 if e.src is None else num[e.src], num[e.dst]
        if e.kind == "call" and e.count is g.selfcount[e.src]:
            ev = src
        else:
            ev = len(events)
            events.append(["e", len(edges)])
            counts.append(e.count)
        site_ = e.addr if e.kind == "call" else blocks[src][3] if src >= 0 else 0
        edges.append([src, dst, kinds[e.kind], site_, ev])
    counts = np.array(counts)
    inst = []
    for sh in shs:
        parts = []
        for t, (r1, r0) in sorted(sh.items()):
            x = counts[:, r1] - (counts[:, r0] if r0 is not None else 0)
            ix = np.nonzero(x)[0]
            begin = g.snaps[r0]["site"] if r0 is not None else 0
            parts.append({"thread": t, "begin": begin, "event": ix.tolist(), "n": x[ix].tolist()})
        inst.append(parts)

    def causes(rs):
        wall, idle, agg = sum(r["T"].max() for r in rs), sum(r["idle"] for r in rs), {}
        for r in rs:
            for a in r["causes"]:
                x = agg.setdefault((a.v, a.o.dst if a.o else None, a.kind), {"addr": int(a.addr), "kind": a.kind, "score": 0.0, "share": 0.0, "gain": 0.0})
                w = r["idle"] / idle
                x["score"] += w * float(a.score)
                x["share"] += w * float(a.var)
                x["gain"] += float(a.gain) / wall
        out = sorted(agg.values(), key=lambda x: -x["score"])
        return [{k: v for k, v in x.items() if v == v} for x in out]
    imb = idle / sum(len(r["T"]) * r["T"].max() for r in rs) if idle else 0.0
    asis = analysed("asis", 0.9)[3]
    save(name + ".json", {"functions": funcs, "blocks": blocks, "edges": edges, "events": events, "site": site, "instances": inst,
                          "imbalance": imb, "exact": causes(rs), "exact_r2": sum(r["r2"] * r["idle"] for r in rs) / idle if idle else None,
                          "paper": causes(asis), "paper_r2": sum(r["r2"] * r["idle"] for r in asis) / idle if idle else None})


if sys.argv[1:2] == ["--table"]:
    table(*sys.argv[2:])
else:
    linkages()
    regressions()
