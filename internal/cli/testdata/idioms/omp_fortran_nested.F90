! Teams of OpenMP in Fortran within a team: the threads of the inner ones have blocks of
! items, of which the first cost more. FIXED deals them in turns.
!
! * EXPECT openmp=yes instances=20 rows=P kind=omp cause=branch least=4
#include "idiom.inc"
program cell
  use idiom
  implicit none
#ifdef FIXED
#define DEALT schedule(static, 1)
#else
#define DEALT schedule(static)
#endif
  integer, parameter :: rounds = 10, each = 16, dear = 8
  integer :: round, inner, items, me, i
  integer(int64) :: steps
  integer(int64), allocatable :: item(:)
  logical, allocatable :: heavy(:)

  call arguments()
  call omp_set_max_active_levels(2)
  inner = threads / 2
  items = each * inner
  steps = budget / rounds / 2 / (items + each * dear)
  allocate (item(2 * items), heavy(items))
  item = 0
  heavy = .false.
  heavy(1:each) = .true.
  do round = 0, rounds - 1
    !$omp parallel num_threads(2) private(me)
    me = omp_get_thread_num()
    !$omp parallel do num_threads(inner) DEALT ! /* SECTION */
    do i = 1, items
      item(me * items + i) = item(me * items + i) + work(round * items + i, steps)
      if (heavy(i)) then ! /* PLANTED */
        item(me * items + i) = item(me * items + i) + refine(round * items + i, dear * steps)
      end if
    end do
    !$omp end parallel do
    !$omp end parallel
  end do
  call answer(item)
end program
