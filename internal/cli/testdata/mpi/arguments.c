// Calls with more arguments than there are registers for, and with results of all
// kinds: each rank checks what it gets. The argument is a file that may be written.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void check(int is, int line) {
    if (!is) {
        printf("rank %d: line %d is wrong\n", rank, line);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
}
#define CHECK(is) check(is, __LINE__)

static void collectives(int *from, int *to, int *one, int *at, int *bytes, MPI_Datatype *types) {
    int n = size, x = -1, sum;
    for (int i = 0; i < n; i++) {
        from[i] = 100 * rank + i;
        one[i] = 1;
        at[i] = n - 1 - i;
        bytes[i] = 4 * at[i];
        types[i] = MPI_INT;
    }
    MPI_Alltoallv(from, one, at, MPI_INT, to, one, at, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        CHECK(to[n - 1 - i] == 100 * i + n - 1 - rank);
    to[0] = -1;
    MPI_Alltoallw(from, one, bytes, types, to, one, bytes, types, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        CHECK(to[n - 1 - i] == 100 * i + n - 1 - rank);
    MPI_Allgather(&rank, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        CHECK(to[i] == i);
    MPI_Gatherv(&rank, 1, MPI_INT, to, one, at, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n && rank == 0; i++)
        CHECK(to[n - 1 - i] == i);
    MPI_Scatterv(from, one, at, MPI_INT, &x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(x == n - 1 - rank);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, n - 1, MPI_COMM_WORLD);
    CHECK(rank < n - 1 || sum == n * (n - 1) / 2);
    int (*barrier)(MPI_Comm) = MPI_Barrier;
    CHECK(barrier(MPI_COMM_WORLD) == MPI_SUCCESS && barrier(MPI_COMM_SELF) == MPI_SUCCESS);
}

static void messages(int next, int last) {
    MPI_Status status;
    MPI_Request asked[2];
    int got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 5, &got, 1, MPI_INT, last, 5, MPI_COMM_WORLD, &status);
    CHECK(got == last && status.MPI_TAG == 5 && status.MPI_SOURCE == last);
    got = rank;
    MPI_Sendrecv_replace(&got, 1, MPI_INT, next, 6, last, 6, MPI_COMM_WORLD, &status);
    CHECK(got == last);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &asked[0]);
    MPI_Isend(&rank, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &asked[1]);
    MPI_Wait(&asked[0], &status);
    MPI_Waitall(1, &asked[1], MPI_STATUSES_IGNORE);
    CHECK(got == last && status.MPI_SOURCE == last);
    MPI_Ibarrier(MPI_COMM_WORLD, asked);
    MPI_Wait(asked, MPI_STATUS_IGNORE);
}

static void communicators(int next, int last) {
    MPI_Comm made, half;
    MPI_Win window;
    int periodic = 1, got = -1, *base, from, to;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &made);
    MPI_Cart_shift(made, 0, 1, &from, &to);
    CHECK(to == next && from == last);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, made);
    CHECK(got == last);
    MPI_Comm_free(&made);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(*base == last);
    MPI_Win_free(&window);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : 0, -rank, &half);
    CHECK((half == MPI_COMM_NULL) == rank % 2);
    if (half != MPI_COMM_NULL)
        MPI_Comm_free(&half);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *room = malloc(5 * size * sizeof(int)), back = -1;
    MPI_Datatype *types = malloc(size * sizeof *types);
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int k = 0; k < 4; k++) {
        collectives(room, room + size, room + 2 * size, room + 3 * size, room + 4 * size, types);
        messages(next, last);
        communicators(next, last);
    }
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 4 * next, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(back == next);
    MPI_File_close(&file);
    if (rank == 0)
        printf("all is right\n");
    MPI_Finalize();
    return 0;
}
