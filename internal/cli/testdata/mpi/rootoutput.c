// One rank alone formats what all have computed.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

__attribute__((noinline)) static void work(double *a, int step) {
    for (int k = 0; k < 400; k++)
        for (int i = 0; i < N; i++)
            a[i] = a[i] * 0.99 + step;
}

__attribute__((noinline)) static unsigned long format(const double *a, int n) {
    unsigned long sum = 0;
    for (int i = 0; i < n; i++)
        for (unsigned long x = (unsigned long)(a[i % N] * 1e9), d = 0; d < 60; d++, x = x / 10 + i)
            sum += '0' + x % 10;
    return sum;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double a[N] = {0}, *all = malloc(sizeof a * size);
    unsigned long written = 0;
    for (int step = 0; step < 10; step++) {
        work(a, step);
        MPI_Gather(a, N, MPI_DOUBLE, all, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#ifdef FIXED
        written += format(a, 400);
#else
        if (rank == 0) /* PLANTED */
            written += format(all, 1600);
#endif
        MPI_Barrier(MPI_COMM_WORLD); /* SECTION */
    }
    unsigned long most;
    MPI_Reduce(&written, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d\n", most > 0);
    MPI_Finalize();
    return 0;
}
