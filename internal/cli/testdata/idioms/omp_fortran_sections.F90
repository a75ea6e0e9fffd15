! Sections of OpenMP in Fortran, of which one has most of the work. FIXED has them all do
! as much.
!
! * EXPECT openmp=yes percent=40 cores=P scheduled=self instances=10 rows=P kind=omp gain=any least=4 most=4
#include "idiom.inc"
program cell
  use idiom
  implicit none
  integer, parameter :: rounds = 10
  integer :: round
  integer(int64) :: steps, sums(0:3)

  call arguments()
  steps = budget / rounds / 20
  sums = 0
  do round = 0, rounds - 1
    !$omp parallel sections num_threads(threads) ! /* SECTION */ /* PLANTED */
    !$omp section
    sums(0) = sums(0) + part(0, round) ! /* PLANTED */
    !$omp section
    sums(1) = sums(1) + part(1, round)
    !$omp section
    sums(2) = sums(2) + part(2, round)
    !$omp section
    sums(3) = sums(3) + part(3, round)
    !$omp end parallel sections
  end do
  call answer(sums)

contains

  function part(k, round) result(x)
    integer, intent(in) :: k, round
    integer(int64) :: x
    integer :: n, first, last
    first = (round * 4 + k) * 5
    last = first + 4
#ifndef FIXED
    first = round * 20
    last = first - 1
    if (k == 2) last = first + 19
#endif
    x = 0
    do n = first, last ! /* PLANTED */
      x = x + work(n, steps)
    end do
  end function
end program
