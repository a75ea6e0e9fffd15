// Works until it is ended.
#include <mpi.h>
#include <stdio.h>

static volatile double sum;

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0;; step++) {
        for (int i = 0; i < 100000; i++)
            sum += i;
        MPI_Barrier(MPI_COMM_WORLD);
        if (step == 5 && rank == 0) {
            printf("at work\n");
            fflush(stdout);
        }
    }
}
