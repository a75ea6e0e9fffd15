// A graph is cut into parts with as many vertices, but not as many edges: where the
// vertices with most edges are, most is done.
#include <mpi.h>
#include <cstdio>
#include <vector>

class World {
public:
    World(int *argc, char ***argv) { MPI_Init(argc, argv); }
    ~World() { MPI_Finalize(); }
    int rank() const { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); return r; }
    int size() const { int n; MPI_Comm_size(MPI_COMM_WORLD, &n); return n; }
    double sum(double x) const { double all; PMPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); return all; }
};

struct Graph {
    std::vector<int> first, to;
};

__attribute__((noinline)) static double visit(const Graph &g, const std::vector<double> &rank, int v) {
    double x = 0;
    for (int e = g.first[v]; e < g.first[v + 1]; e++) /* PLANTED */
        x += rank[g.to[e]] * 0.85;
    return x;
}

int main(int argc, char **argv) {
    World world(&argc, &argv);
    const int vertices = 2000;
    Graph g;
    g.first.push_back(0);
    for (int v = 0; v < vertices; v++) {
#ifdef FIXED
        int degree = 60;
#else
        int degree = world.rank() == world.size() - 1 ? 200 : 20; // these are the hubs
#endif
        for (int e = 0; e < degree; e++)
            g.to.push_back((v * 7919 + e * 104729) % vertices);
        g.first.push_back(g.to.size());
    }
    std::vector<double> rank(vertices, 1.0 / vertices), next(vertices);
    world.sum(0);
    double total = 0;
    for (int round = 0; round < 20; round++) {
        for (int v = 0; v < vertices; v++)
            next[v] = visit(g, rank, v);
        rank.swap(next);
        total = world.sum(rank[0]); /* SECTION */
    }
    if (world.rank() == 0)
        std::printf("%d\n", total >= 0);
}
