// Rank 0 computes for a while before it sends what all others wait for.
#include <mpi.h>
#include <stdio.h>

__attribute__((noinline)) static double work(int n) {
    double x = n;
    for (int i = 0; i < n; i++)
        x = x * 0.999999 + i;
    return x;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double x = 0;
    for (int step = 0; step < 8; step++) {
        x += work(200000 + step);
        double token = 0;
        if (rank == 0) { /* PLANTED */
#ifndef FIXED
            for (int i = 0; i < 400; i++) // longer than ranks that share cores wait for one
                token += work(100000 + i); // not the same each time: compilers would do that once
#endif
            for (int to = 1; to < size; to++)
                MPI_Send(&token, 1, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&token, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* WAIT */
        }
        x += token;
        MPI_Barrier(MPI_COMM_WORLD); /* SECTION */
    }
    if (rank == 0)
        printf("%d\n", x > 0);
    MPI_Finalize();
    return 0;
}
