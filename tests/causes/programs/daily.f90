! SPDX-License-Identifier: Apache-2.0
! A triad over arrays in all threads of OpenMP, so many rounds.
program daily
  implicit none
  integer, parameter :: n = 4000000
  integer :: i, round, rounds
  character(len=16) :: word
  real(8), allocatable :: a(:), b(:), c(:)
  call get_command_argument(1, word)
  read (word, *) rounds
  allocate (a(n), b(n), c(n))
  !$omp parallel do
  do i = 1, n
    a(i) = 0; b(i) = i; c(i) = 2 * i
  end do
  do round = 1, rounds
    !$omp parallel do
    do i = 1, n
      a(i) = b(i) + sqrt(c(i)) * 3
    end do
  end do
  print *, a(n)
end program
