! SPDX-License-Identifier: Apache-2.0
! Five kinds of work in rounds of different length, SECONDS of CPU time in all, each measured with the thread's own clock. Prints the seconds of each.
module parts
  use iso_c_binding
  implicit none
  type, bind(c) :: timespec
    integer(c_long) :: seconds, nanoseconds
  end type
  interface
    function clock_gettime(clock, t) bind(c)
      import
      integer(c_int), value :: clock
      type(timespec) :: t
      integer(c_int) :: clock_gettime
    end function
  end interface
  real(8) :: a(160, 160), b(160, 160), c(160, 160), drawn(400000), from(131072), to(131072)
  character(len=64) :: line
  integer :: sink = 1
contains
  function cpu() result(s)
    real(8) :: s
    type(timespec) :: t
    integer(c_int) :: bad
    bad = clock_gettime(3_c_int, t)
    s = real(t%seconds, 8) + real(t%nanoseconds, 8) * 1d-9
  end function

  subroutine part_matmul()
    integer :: i
    do i = 1, 8
      c = matmul(a, b)
      a(1, 1) = c(2, 2) * 1d-6
    end do
  end subroutine

  subroutine part_format()
    integer :: i
    do i = 1, 20000
      write (line, '(i8,f12.6)') i, a(3, 3)
    end do
  end subroutine

  subroutine part_loop()
    integer :: i, x
    x = sink
    do i = 1, 12000000
      x = ieor(ishft(x, 1), x) + i
    end do
    sink = x
  end subroutine

  subroutine part_copy()
    integer :: i
    do i = 1, 200
      to = from
      from(i) = to(i + 1) + 1
    end do
  end subroutine

  subroutine part_random()
    integer :: i
    do i = 1, 4
      call random_number(drawn)
    end do
  end subroutine
end module

program known_parts
  use parts
  implicit none
  real(8) :: seconds(5) = 0, begun, end, wanted
  character(len=32) :: text
  integer :: round = 0, k
  call get_command_argument(1, text)
  read (text, *) wanted
  a = 1.5d0
  b = 0.5d0
  from = 1
  end = cpu() + wanted
  do while (cpu() < end)
    round = round + 1
    begun = cpu()
    do k = 0, mod(round, 7)
      call part_matmul()
    end do
    seconds(1) = seconds(1) + cpu() - begun
    begun = cpu()
    do k = 0, mod(round, 7)
      call part_format()
    end do
    seconds(2) = seconds(2) + cpu() - begun
    begun = cpu()
    do k = 0, mod(round, 7)
      call part_loop()
    end do
    seconds(3) = seconds(3) + cpu() - begun
    begun = cpu()
    do k = 0, mod(round, 7)
      call part_copy()
    end do
    seconds(4) = seconds(4) + cpu() - begun
    begun = cpu()
    do k = 0, mod(round, 7)
      call part_random()
    end do
    seconds(5) = seconds(5) + cpu() - begun
  end do
  print '(a,f12.6)', 'part_matmul', seconds(1), 'part_format', seconds(2), 'part_loop', seconds(3), &
    'part_copy', seconds(4), 'part_random', seconds(5)
end program
