! A loop of OpenMP in Fortran, in a worksharing construct of a region: rows of a
! triangle, dealt in blocks. FIXED has a short one with each long one.
!
! * EXPECT openmp=yes instances=10 rows=P kind=omp cause=loop
program triangle
  use omp_lib
  use iso_fortran_env, only: int64
  implicit none
  integer, parameter :: rounds = 10, each = 16
  integer :: threads, percent, round, rows, i, j
  integer(int64) :: steps, sum
  integer(int64), allocatable :: row(:)
  character(16) :: text

  call get_command_argument(1, text)
  read (text, *) threads
  call get_command_argument(2, text)
  read (text, *) percent
  rows = each * threads
  steps = percent * 4000000_int64 / rounds / (rows * (rows + 1) / 2)
  allocate (row(rows))
  row = 0
  call omp_set_num_threads(threads)
  !$omp parallel private(round, i, j)
  do round = 1, rounds
    !$omp do schedule(static) ! /* SECTION */
    do i = 1, rows
      do j = 1, cells(i) ! /* PLANTED */
        row(i) = row(i) + work(int(round * rows + j, int64), steps)
      end do
    end do
    !$omp end do
  end do
  !$omp end parallel
  sum = 0
  do i = 1, rows
    sum = sum + row(i)
  end do
  print '(A,Z16.16)', 'checksum ', sum

contains

  pure integer function cells(i)
    integer, intent(in) :: i
    cells = i
#ifdef FIXED
    cells = (i + 1) / 2
    if (mod(i, 2) == 0) cells = rows + 1 - i / 2
#endif
  end function

  function work(seed, n) result(x)
    integer(int64), intent(in) :: seed, n
    integer(int64) :: x, k
    x = ior(seed, 1_int64)
    do k = 1, n
      x = iand(x * 1103515245_int64 + 12345_int64, 2147483647_int64)
    end do
  end function
end program
