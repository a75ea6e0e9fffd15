// Rank 2 ends in some way that its argument names, while others wait for it.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static volatile double sum;

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 20; step++) {
        for (long i = 0; i < 50000 * (rank + 1); i++) /* PLANTED */
            sum += i;
        if (rank == 2 && step == 10 && argc > 1) {
            if (!strcmp(argv[1], "kill"))
                raise(SIGKILL);
            if (!strcmp(argv[1], "exit"))
                exit(3);
            MPI_Abort(MPI_COMM_WORLD, 5);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* SECTION */
    }
    MPI_Finalize();
    return 0;
}
