// Ranks meet in rows of two, each in a communicator of its own. In one of the rows one
// of the two has more to do.
#include <mpi.h>
#include <stdio.h>

__attribute__((noinline)) static double work(int n) {
    double x = n;
    for (int i = 0; i < n; i++)
        x = x * 0.999999 + i;
    return x;
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm row;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    double x = 0, all;
    for (int step = 0; step < 10; step++) {
        x += work(100000);
#ifndef FIXED
        if (rank == 1) /* PLANTED */
            x += work(500000);
#endif
        MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, row); /* SECTION */
        x = all / 2;
    }
    MPI_Comm_free(&row);
    if (rank == 0)
        printf("%d\n", x > 0);
    MPI_Finalize();
    return 0;
}
