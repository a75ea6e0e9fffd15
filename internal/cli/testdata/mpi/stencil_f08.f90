! The same by "use mpi_f08", in a communicator of its own.
program stencil_f08
  use mpi_f08
  implicit none
  integer :: rank, step, n
  double precision :: x, all
  type(mpi_comm) :: mine
  call mpi_init()
  call mpi_comm_dup(mpi_comm_world, mine)
  call mpi_comm_rank(mine, rank)
  x = 0
  do step = 1, 10
#ifdef FIXED
    n = 800
#else
    n = 400
    if (rank == 1) n = 1600
#endif
    call sweep(x, n)
    call mpi_reduce(x, all, 1, mpi_double_precision, mpi_sum, 0, mine) ! SECTION
    call mpi_barrier(mine)
    x = x / 1000
  end do
  if (rank == 0) print '(l1)', x > 0
  call mpi_finalize()
contains
  subroutine sweep(x, n)
    double precision, intent(inout) :: x
    integer, intent(in) :: n
    integer :: i, k
    do i = 1, n ! PLANTED
      do k = 1, 200
        x = x * 0.999d0 + k
      end do
    end do
  end subroutine sweep
end program stencil_f08
