! SPDX-License-Identifier: Apache-2.0
! A relaxation that reads one cell past its grid after some sweeps; gfortran -fcheck=bounds builds it.
program second
   implicit none
   integer, parameter :: n = 400
   real(8) :: grid(n), start, finish
   integer :: i, sweep, last
   grid = 1d0
   last = n - 1
   call cpu_time(start)
   do
      do sweep = 1, 500
         do i = 2, last
            grid(i) = 0.5d0 * (grid(i - 1) + grid(i + 1))
         end do
      end do
      call cpu_time(finish)
      if (finish - start > 4d0) last = n
   end do
   print *, sum(grid)
end program second
