// One rank has more rows than the others, and in each rank one thread more to do than
// the others.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

__attribute__((noinline)) static double row(int n) {
    double x = n;
    for (int i = 0; i < 300; i++)
        x = x * 0.999 + i;
    return x;
}

int main(int argc, char **argv) {
    int rank, got;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = 0, all;
    for (int step = 0; step < 6; step++) {
        double mine = 0;
#ifdef FIXED
        int rows = 400;
#else
        int rows = rank == 1 ? 1000 : 200;
#endif
#pragma omp parallel num_threads(3) reduction(+ : mine) /* REGION */
        {
            int n = rows;
#ifndef FIXED
            if (omp_get_thread_num() == 2) /* INNER */
                for (int i = 0; i < 2 * rows; i++) /* PLANTED */
                    mine += row(i);
#endif
            for (int i = 0; i < n; i++) /* PLANTED */
                mine += row(i);
        }
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* SECTION */
        sum += all;
    }
    if (rank == 0)
        printf("%d\n", sum > 0);
    MPI_Finalize();
    return 0;
}
