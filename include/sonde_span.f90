! SPDX-License-Identifier: Apache-2.0
!
! sonde_span.f90 - sonde_span.h for Fortran 2003 and later: compile it with the program, and link with -lsonde.
!
!     use sonde_span
!     integer(sonde_name_kind) :: step
!     step = sonde_name("step")        ! once
!     call sonde_begin(step)
!     ...
!     call sonde_end()
!
! What each does is said in sonde_span.h. Without a recorder all of it does nothing.
module sonde_span
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_int64_t, c_double, c_char, c_null_char
  implicit none
  private

  integer, parameter, public :: sonde_name_kind = c_int32_t, sonde_handle_kind = c_int64_t
  public :: sonde_name, sonde_begin, sonde_end, sonde_span_begin, sonde_span_end
  public :: sonde_mark, sonde_counter, sonde_thread_name, sonde_spans_lost

  interface
     function name_of(text) bind(c, name="sonde_name")
       import :: c_int32_t, c_char
       character(kind=c_char), intent(in) :: text(*)
       integer(c_int32_t) :: name_of
     end function name_of
     function begin_in_thread(name) bind(c, name="sonde_begin")
       import :: c_int32_t, c_int64_t
       integer(c_int32_t), value :: name
       integer(c_int64_t) :: begin_in_thread
     end function begin_in_thread
     subroutine sonde_end() bind(c, name="sonde_end")
     end subroutine sonde_end
     function begin_anywhere(name, around) bind(c, name="sonde_span_begin")
       import :: c_int32_t, c_int64_t
       integer(c_int32_t), value :: name
       integer(c_int64_t), value :: around
       integer(c_int64_t) :: begin_anywhere
     end function begin_anywhere
     subroutine sonde_span_end(span) bind(c, name="sonde_span_end")
       import :: c_int64_t
       integer(c_int64_t), value :: span
     end subroutine sonde_span_end
     subroutine sonde_mark(name) bind(c, name="sonde_mark")
       import :: c_int32_t
       integer(c_int32_t), value :: name
     end subroutine sonde_mark
     subroutine sonde_counter(name, number) bind(c, name="sonde_counter")
       import :: c_int32_t, c_double
       integer(c_int32_t), value :: name
       real(c_double), value :: number
     end subroutine sonde_counter
     subroutine call_thread(text) bind(c, name="sonde_thread_name")
       import :: c_char
       character(kind=c_char), intent(in) :: text(*)
     end subroutine call_thread
     function sonde_spans_lost() bind(c, name="sonde_spans_lost")
       import :: c_int64_t
       integer(c_int64_t) :: sonde_spans_lost
     end function sonde_spans_lost
  end interface

contains

  ! Blanks at the end of a text are none of it.
  function sonde_name(text) result(number)
    character(len=*), intent(in) :: text
    integer(sonde_name_kind) :: number
    number = name_of(trim(text) // c_null_char)
  end function sonde_name

  subroutine sonde_begin(name)
    integer(sonde_name_kind), intent(in) :: name
    integer(sonde_handle_kind) :: span
    span = begin_in_thread(name)
  end subroutine sonde_begin

  ! around: the span that it is part of.
  function sonde_span_begin(name, around) result(span)
    integer(sonde_name_kind), intent(in) :: name
    integer(sonde_handle_kind), intent(in), optional :: around
    integer(sonde_handle_kind) :: span, outer
    outer = 0
    if (present(around)) outer = around
    span = begin_anywhere(name, outer)
  end function sonde_span_begin

  subroutine sonde_thread_name(text)
    character(len=*), intent(in) :: text
    call call_thread(trim(text) // c_null_char)
  end subroutine sonde_thread_name

end module sonde_span
