! SPDX-License-Identifier: Apache-2.0
! A job of fourth.py: even shares of a grid on all cores, step after step, for so many seconds.
program even
    implicit none
    integer, parameter :: n = 400
    real(8) :: a(n, n), b(n, n)
    integer :: i, j, ticks, rate, last
    character(len=16) :: word

    call get_command_argument(1, word)
    read (word, *) last
    call system_clock(ticks, rate)
    last = ticks + last * rate
    a = 1
    do while (ticks < last)
        !$omp parallel do private(i)
        do j = 1, n
            do i = 1, n
                b(i, j) = sqrt(abs(sin(a(i, j)))) + exp(-a(i, j))
            end do
        end do
        !$omp end parallel do
        a = b
        call system_clock(ticks)
    end do
    print *, sum(a)
end program even
