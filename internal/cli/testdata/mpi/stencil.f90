! A stencil whose blocks are not of one size, by "use mpi".
program stencil
  use mpi
  implicit none
  integer :: ierr, rank, step, n
  double precision :: x, all
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  x = 0
  do step = 1, 10
#ifdef FIXED
    n = 800
#else
    n = 400
    if (rank == 1) n = 1600
#endif
    call sweep(x, n)
    call mpi_allreduce(x, all, 1, mpi_double_precision, mpi_sum, mpi_comm_world, ierr) ! SECTION
    x = all / 1000
  end do
  if (rank == 0) print '(l1)', x > 0
  call mpi_finalize(ierr)
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
end program stencil
