// A domain is decomposed into cells, of which one rank has four times as many as the
// others. The exchange is a wrapper of the program's own, which is called from two
// places: the section stands at the call that matters.
#include <mpi.h>
#include <stdio.h>

static double reduce(double mine) {
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

__attribute__((noinline)) static double cell(int i, int step) {
    double x = i % 7;
    for (int k = 0; k < 150; k++)
        x = x * 0.999 + step;
    return x;
}

static int cells(int rank) {
#ifdef FIXED
    return 500 + 0 * rank;
#else
    return rank == 1 ? 2000 : 500;
#endif
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = reduce(1);
    for (int step = 0; step < 12; step++) {
        double mine = 0;
        for (int i = 0; i < cells(rank); i++) /* PLANTED */
            mine += cell(i, step);
        sum += reduce(mine); /* SECTION */
    }
    if (rank == 0)
        printf("%.6g\n", sum);
    MPI_Finalize();
    return 0;
}
