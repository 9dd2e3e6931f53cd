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
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_int64_t, c_double, c_char, c_null_char, c_loc, c_intptr_t
  implicit none
  private

  integer, parameter, public :: sonde_name_kind = c_int32_t, sonde_handle_kind = c_int64_t
  public :: sonde_name, sonde_begin, sonde_end, sonde_span_begin, sonde_span_end
  public :: sonde_mark, sonde_counter, sonde_thread_name, sonde_spans_lost
  public :: sonde_arg, sonde_arg_number, sonde_arg_integer, sonde_arg_text, sonde_arg_category
  public :: sonde_begin_with, sonde_span_begin_with, sonde_span_end_with, sonde_mark_with

  ! KEY=VALUE of a span or a mark. Texts have up to 255 bytes.
  type :: sonde_arg
     private
     integer(c_int32_t) :: kind = 0, key = 0
     integer(c_int64_t) :: bits = 0
     character(len=255) :: text = ""
  end type sonde_arg

  ! As struct sonde_arg of C.
  type, bind(c) :: c_arg
     integer(c_int32_t) :: kind, key
     integer(c_int64_t) :: bits
  end type c_arg
  integer, parameter :: args_most = 16

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
     function begin_in_thread_with(name, args, n) bind(c, name="sonde_begin_with")
       import :: c_int32_t, c_int64_t, c_arg
       integer(c_int32_t), value :: name, n
       type(c_arg), intent(in) :: args(*)
       integer(c_int64_t) :: begin_in_thread_with
     end function begin_in_thread_with
     function begin_anywhere_with(name, around, args, n) bind(c, name="sonde_span_begin_with")
       import :: c_int32_t, c_int64_t, c_arg
       integer(c_int32_t), value :: name, n
       integer(c_int64_t), value :: around
       type(c_arg), intent(in) :: args(*)
       integer(c_int64_t) :: begin_anywhere_with
     end function begin_anywhere_with
     subroutine end_with(span, args, n) bind(c, name="sonde_span_end_with")
       import :: c_int32_t, c_int64_t, c_arg
       integer(c_int64_t), value :: span
       integer(c_int32_t), value :: n
       type(c_arg), intent(in) :: args(*)
     end subroutine end_with
     subroutine mark_with(name, args, n) bind(c, name="sonde_mark_with")
       import :: c_int32_t, c_arg
       integer(c_int32_t), value :: name, n
       type(c_arg), intent(in) :: args(*)
     end subroutine mark_with
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

  function sonde_arg_number(key, number) result(arg)
    integer(sonde_name_kind), intent(in) :: key
    real(c_double), intent(in) :: number
    type(sonde_arg) :: arg
    arg%kind = 1
    arg%key = key
    arg%bits = transfer(number, arg%bits)
  end function sonde_arg_number

  function sonde_arg_integer(key, number) result(arg)
    integer(sonde_name_kind), intent(in) :: key
    integer(c_int64_t), intent(in) :: number
    type(sonde_arg) :: arg
    arg%kind = 2
    arg%key = key
    arg%bits = number
  end function sonde_arg_integer

  function sonde_arg_text(key, text) result(arg)
    integer(sonde_name_kind), intent(in) :: key
    character(len=*), intent(in) :: text
    type(sonde_arg) :: arg
    arg%kind = 3
    arg%key = key
    arg%text = text
  end function sonde_arg_text

  function sonde_arg_category(name) result(arg)
    integer(sonde_name_kind), intent(in) :: name
    type(sonde_arg) :: arg
    arg%kind = 4
    arg%key = name
  end function sonde_arg_category

  ! For C, which reads the texts while it is called.
  subroutine c_args(args, out, texts, n)
    type(sonde_arg), intent(in) :: args(:)
    type(c_arg), intent(out) :: out(args_most)
    character(kind=c_char), intent(inout), target :: texts(256, args_most)
    integer(c_int32_t), intent(out) :: n
    integer :: i, k, length
    n = int(min(size(args), args_most), c_int32_t)
    do i = 1, n
       out(i) = c_arg(args(i)%kind, args(i)%key, args(i)%bits)
       length = len_trim(args(i)%text)
       do k = 1, length
          texts(k, i) = args(i)%text(k:k)
       end do
       texts(length + 1, i) = c_null_char
       if (args(i)%kind == 3) out(i)%bits = int(transfer(c_loc(texts(1, i)), 0_c_intptr_t), c_int64_t)
    end do
  end subroutine c_args

  ! In this thread, as sonde_begin; sonde_end ends it.
  subroutine sonde_begin_with(name, args)
    integer(sonde_name_kind), intent(in) :: name
    type(sonde_arg), intent(in) :: args(:)
    type(c_arg) :: out(args_most)
    character(kind=c_char), target :: texts(256, args_most)
    integer(sonde_handle_kind) :: span
    integer(c_int32_t) :: n
    call c_args(args, out, texts, n)
    span = begin_in_thread_with(name, out, n)
  end subroutine sonde_begin_with

  function sonde_span_begin_with(name, args, around) result(span)
    integer(sonde_name_kind), intent(in) :: name
    type(sonde_arg), intent(in) :: args(:)
    integer(sonde_handle_kind), intent(in), optional :: around
    type(c_arg) :: out(args_most)
    character(kind=c_char), target :: texts(256, args_most)
    integer(sonde_handle_kind) :: span, outer
    integer(c_int32_t) :: n
    outer = 0
    if (present(around)) outer = around
    call c_args(args, out, texts, n)
    span = begin_anywhere_with(name, outer, out, n)
  end function sonde_span_begin_with

  subroutine sonde_span_end_with(span, args)
    integer(sonde_handle_kind), intent(in) :: span
    type(sonde_arg), intent(in) :: args(:)
    type(c_arg) :: out(args_most)
    character(kind=c_char), target :: texts(256, args_most)
    integer(c_int32_t) :: n
    call c_args(args, out, texts, n)
    call end_with(span, out, n)
  end subroutine sonde_span_end_with

  subroutine sonde_mark_with(name, args)
    integer(sonde_name_kind), intent(in) :: name
    type(sonde_arg), intent(in) :: args(:)
    type(c_arg) :: out(args_most)
    character(kind=c_char), target :: texts(256, args_most)
    integer(c_int32_t) :: n
    call c_args(args, out, texts, n)
    call mark_with(name, out, n)
  end subroutine sonde_mark_with

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
