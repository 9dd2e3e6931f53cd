! SPDX-License-Identifier: Apache-2.0
! known OUT: as known.c, in Fortran: each rank writes to OUT.RANK the lines "FUNCTION CALLS BYTES SECONDS".
program known
  use mpi
  implicit none
  integer, parameter :: steps = 30, n = 100
  integer :: rank, ranks, error, i, next, before
  integer :: status(MPI_STATUS_SIZE)
  double precision :: in(2 * n), out(n), from, begin, whole, seconds(4)
  character(len=200) :: path, name
  call get_command_argument(1, path)
  call MPI_Init(error)
  begin = MPI_Wtime()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  seconds = 0
  in = 1
  out = rank
  do i = 1, steps
    call execute_command_line("sleep 0.02")
    from = MPI_Wtime()
    call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    seconds(1) = seconds(1) + MPI_Wtime() - from
    from = MPI_Wtime()
    call MPI_Sendrecv(out, n, MPI_DOUBLE_PRECISION, next, 0, in, 2 * n, MPI_DOUBLE_PRECISION, before, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    seconds(2) = seconds(2) + MPI_Wtime() - from
    from = MPI_Wtime()
    if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    else
      call MPI_Gather(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    end if
    seconds(3) = seconds(3) + MPI_Wtime() - from
    from = MPI_Wtime()
    if (rank == 0) call MPI_Send(out, 5, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, error)
    if (rank == 1) call MPI_Recv(in, n, MPI_DOUBLE_PRECISION, 0, 7, MPI_COMM_WORLD, status, error)
    seconds(4) = seconds(4) + MPI_Wtime() - from
  end do
  whole = MPI_Wtime() - begin
  call MPI_Finalize(error)
  write (name, '(a,".",i0)') trim(path), rank
  open (unit=9, file=name, status="replace")
  write (9, '("MPI_Allreduce ",i0," ",i0," ",f0.9)') steps, steps * n * 8, seconds(1)
  write (9, '("MPI_Sendrecv ",i0," ",i0," ",f0.9)') steps, steps * 2 * n * 8, seconds(2)
  write (9, '("MPI_Gather ",i0," ",i0," ",f0.9)') steps, steps * 12, seconds(3)
  if (rank == 0) write (9, '("MPI_Send ",i0," ",i0," ",f0.9)') steps, steps * 40, seconds(4)
  if (rank == 1) write (9, '("MPI_Recv ",i0," ",i0," ",f0.9)') steps, steps * 40, seconds(4)
  write (9, '("all ",f0.9," ",f0.9)') whole, sum(seconds)
  close (9)
end program
