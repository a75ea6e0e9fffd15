// A chain: each rank waits for all that it has asked for before it does its own share
// and lets the next one go on, though only the end of it depends on the others.
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
    double x = 0, halo = 0, mine = 0;
    for (int step = 0; step < 6; step++) {
        MPI_Request asked[2];
        int n = 0;
        if (rank > 0)
            MPI_Irecv(&halo, 1, MPI_DOUBLE, rank - 1, 3, MPI_COMM_WORLD, &asked[n++]);
#ifndef FIXED
        MPI_Waitall(n, asked, MPI_STATUSES_IGNORE); /* WAIT */
#endif
        mine = work(3000000);
        if (rank + 1 < size)
            MPI_Send(&mine, 1, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD);
#ifdef FIXED
        MPI_Waitall(n, asked, MPI_STATUSES_IGNORE);
#endif
        x += mine + halo;
        MPI_Barrier(MPI_COMM_WORLD); /* SECTION */
    }
    if (rank == 0)
        printf("%d\n", x > 0);
    MPI_Finalize();
    return 0;
}
