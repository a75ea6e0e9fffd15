! Tasks of OpenMP in Fortran, which one thread makes and whoever is free executes. One of
! them is huge; FIXED cuts it.
!
! * EXPECT openmp=yes cores=P least=4 most=8 percent=10 scheduled=self instances=10 rows=P kind=omp cause=branch gain=any
#include "idiom.inc"
program cell
  use idiom
  implicit none
  integer, parameter :: rounds = 10, each = 16
  integer :: round, items, i
  integer(int64) :: steps
  integer(int64), allocatable :: item(:)

  call arguments()
  items = each * threads
  steps = budget / rounds / (3 * items)
  allocate (item(items))
  item = 0
  do round = 0, rounds - 1
    !$omp parallel num_threads(threads) ! /* SECTION */
    !$omp single
    do i = 1, items
      !$omp task firstprivate(i)
      item(i) = item(i) + run_item(round * items + i - 1, items, steps)
      !$omp end task
    end do
    !$omp end single nowait
    !$omp end parallel
  end do
  call answer(item)

contains

  ! One of the items has most of the work; FIXED cuts it.
  function run_item(i, items, each) result(x)
    integer, intent(in) :: i, items
    integer(int64), intent(in) :: each
    integer(int64) :: x
    integer :: other
    x = work(i, each)
#ifdef FIXED
    x = x + refine(i, 2 * each)
#else
    if (mod(i, items) == items / 2) then ! /* PLANTED */
      do other = i - items / 2, i + items - items / 2 - 1
        x = x + refine(other, 2 * each)
      end do
    end if
#endif
  end function
end program
