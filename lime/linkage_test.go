package lime

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// readJSON reads a golden file.
func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// one is a single group of n columns.
func one(n int) groups { return groups{{0, n, 1}} }

// standard returns the rows of x as unit vectors, end to end.
func standard(x [][]float64) (z []float64, dim int, weight []float64) {
	for _, row := range x {
		z = append(z, one(len(row)).unit(row)...)
		dim, weight = len(row), append(weight, 1)
	}
	return z, dim, weight
}

func TestClusterAgreesWithScipy(t *testing.T) {
	var cases []struct {
		X     [][]float64
		Stop  float64
		Label []int
	}
	readJSON(t, "testdata/linkage.json", &cases)
	var x [][]float64
	for i, c := range cases {
		if c.X != nil {
			x = c.X
		}
		z, dim, weight := standard(x)
		if got := cluster(z, dim, weight, c.Stop, 0); !slices.Equal(got, c.Label) {
			t.Errorf("case %d (%d vectors of %d, stop %v):\n got %v\nwant %v", i, len(x), dim, c.Stop, got, c.Label)
		}
	}
	if len(cases) < 100 {
		t.Errorf("only %d cases", len(cases))
	}
}

// naive is average linkage by the definition: all pairs, the best first.
func naive(x [][]float64, weight []float64, stop float64) []int {
	n := len(x)
	sets := make([][]int, n)
	for i := range sets {
		sets[i] = []int{i}
	}
	r := func(a, b []int) float64 {
		sum, w := 0.0, 0.0
		for _, i := range a {
			for _, j := range b {
				sum += weight[i] * weight[j] * floats.Dot(x[i], x[j])
				w += weight[i] * weight[j]
			}
		}
		return sum / w
	}
	for {
		best, a, b := stop, -1, -1
		for i := range sets {
			for j := range i {
				if s := r(sets[i], sets[j]); s > best || s == best && a < 0 {
					best, a, b = s, j, i
				}
			}
		}
		if a < 0 {
			break
		}
		sets[a] = append(sets[a], sets[b]...)
		sets = slices.Delete(sets, b, b+1)
	}
	label := make([]int, n)
	slices.SortFunc(sets, func(a, b []int) int { return slices.Min(a) - slices.Min(b) })
	for k, s := range sets {
		for _, i := range s {
			label[i] = k
		}
	}
	return label
}

func TestClusterAgreesWithDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 60 {
		n, dim := 2+rng.IntN(40), 3+rng.IntN(14)
		if k%10 == 0 {
			n = 90 // enough for pivots
		}
		var x [][]float64
		var weight []float64
		noise := math.Pow(10, -2+2*rng.Float64())
		base := make([][]float64, 1+rng.IntN(6))
		for i := range base {
			base[i] = normal(rng, dim)
		}
		for range n {
			v := append([]float64(nil), base[rng.IntN(len(base))]...)
			floats.AddScaled(v, noise, normal(rng, dim))
			x = append(x, one(dim).unit(v))
			weight = append(weight, float64(1+rng.IntN(3)))
		}
		z := slices.Concat(x...)
		for _, stop := range []float64{0.7, 0.9, 0.98} {
			if got, want := cluster(z, dim, weight, stop, 0), naive(x, weight, stop); !slices.Equal(got, want) {
				t.Errorf("table %d, stop %v:\n got %v\nwant %v", k, stop, got, want)
			}
		}
	}
}

func normal(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// Pivots must not lose a pair: the parts are those of the whole graph.
func TestCorrelatedPartsKeepAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, dim := range []int{2, 3, 8, 32} {
		nodes := make([]node, 400)
		centre := normal(rng, dim)
		for i := range nodes {
			if i%20 == 0 {
				centre = normal(rng, dim)
			}
			v := append([]float64(nil), centre...)
			floats.AddScaled(v, 0.15, normal(rng, dim))
			nodes[i] = node{one(dim).unit(v), 1}
		}
		for _, stop := range []float64{0.5, 0.9, 0.98, 1} {
			part := make([]int, len(nodes))
			for k, p := range correlatedParts(nodes, stop) {
				for _, i := range p {
					part[i] = k
				}
			}
			for i := range nodes {
				for j := range i {
					if floats.Dot(nodes[i].mean, nodes[j].mean) >= stop && part[i] != part[j] {
						t.Fatalf("dim %d, stop %v: nodes %d and %d are near but apart", dim, stop, j, i)
					}
				}
			}
		}
	}
}

func TestBulkMerging(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var x [][]float64
	for i := range 300 {
		v := make([]float64, 8)
		v[i%4] = 100
		floats.AddScaled(v, 0.5, normal(rng, 8))
		x = append(x, v)
	}
	z, dim, weight := standard(x)
	plain, bulk := cluster(z, dim, weight, 0.9, 0), cluster(z, dim, weight, 0.9, 0.99)
	if !slices.Equal(plain, bulk) || slices.Max(bulk) != 3 {
		t.Errorf("bulk merging of well-separated groups changed the clusters:\n%v\n%v", plain, bulk)
	}
}

func TestProportionalVectorsAreOne(t *testing.T) {
	a := []float64{3, 1, 4, 1, 5}
	b := append([]float64(nil), a...)
	floats.Scale(7, b)
	floats.AddConst(1000, b)
	z, dim, weight := standard([][]float64{a, b, {5, 1, 4, 1, 3}})
	_, nodes := collapse(3, func(i int) []float64 { return z[i*dim : i*dim+dim] }, weight)
	if len(nodes) != 2 || nodes[0].weight != 2 {
		t.Errorf("got %d nodes, the first of weight %v", len(nodes), nodes[0].weight)
	}
}

// events makes counts as a program makes them: some decisions, each followed
// by events that are proportional to it, or to a few decisions together, some
// with noise of their own (data-dependent branches).
func manyEvents(n, threads int) (z []float64, weight []float64) {
	rng := rand.New(rand.NewPCG(4, 4))
	base := make([][]float64, n/250)
	for i := range base {
		base[i] = make([]float64, threads)
		for t := range base[i] {
			base[i][t] = math.Round(1000 * rng.ExpFloat64())
		}
	}
	row := make([]float64, threads)
	for i := range n {
		b, c := base[rng.IntN(len(base))], base[rng.IntN(len(base))]
		k, own := float64(1+rng.IntN(50)), 0.0
		mix := 0.0
		switch i % 4 {
		case 1:
			own = 0.02
		case 2:
			own = 0.1
		case 3:
			mix = float64(rng.IntN(4))
		}
		for t := range row {
			row[t] = math.Round(k * (b[t] + mix*c[t]) * (1 + own*rng.NormFloat64()))
		}
		z = append(z, one(threads).unit(row)...)
		weight = append(weight, 1)
	}
	return z, weight
}

// The bounds are 5 s and 500 MB for 100,000 events of 64 threads.
func BenchmarkCluster(b *testing.B) {
	for _, n := range []int{2000, 10000, 100000} {
		b.Run(fmt.Sprintf("%dx64", n), func(b *testing.B) {
			z, weight := manyEvents(n, 64)
			b.ReportAllocs()
			for b.Loop() {
				label := cluster(z, 64, weight, 0.98, 0)
				b.ReportMetric(float64(slices.Max(label)+1), "clusters")
			}
		})
	}
}
