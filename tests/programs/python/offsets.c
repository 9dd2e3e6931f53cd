/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the row of src/unwind/python_layouts.def of one version of CPython with that version's
 * own structures: compiled with its headers, by
 * tests/cli/python-offsets-are-those-of-its-headers.py.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stddef.h>
#include <stdio.h>

#include "frameobject.h"
#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_frame.h"
#endif
#include "internal/pycore_gil.h"

#include "unwind/python_layout.h"

static const struct python_layout layouts[] = {
#include "unwind/python_layouts.def"
};
static int wrong, compared;

static void compare(const char *member, size_t row, size_t header)
{
	compared++;
	wrong += row != header;
	if (row != header)
		printf("%s: %zu, and %zu in the headers\n", member, row, header);
}

#define IS(member, what) compare(#member, l->member, what)

static void compare_values(const struct python_layout *l)
{
	IS(next, offsetof(PyThreadState, next));
	IS(interpreter, offsetof(PyThreadState, interp));
	IS(gil_holder, offsetof(struct _gil_runtime_state, last_holder));
	IS(gil_locked, offsetof(struct _gil_runtime_state, locked));
	IS(gil_size, sizeof(struct _gil_runtime_state));
	IS(file, offsetof(PyCodeObject, co_filename));
	IS(first_line, offsetof(PyCodeObject, co_firstlineno));
	IS(bytes, offsetof(PyBytesObject, ob_sval));
	IS(size, offsetof(PyVarObject, ob_size));
	IS(ascii, sizeof(PyASCIIObject));
	IS(compact, sizeof(PyCompactUnicodeObject));
	IS(length, offsetof(PyASCIIObject, length));
	IS(state, offsetof(PyASCIIObject, state));
	IS(type, offsetof(PyObject, ob_type));
	IS(type_name, offsetof(PyTypeObject, tp_name));
}

#if PY_VERSION_HEX >= 0x030b0000
static void compare_frames(const struct python_layout *l)
{
	IS(native_id, offsetof(PyThreadState, native_thread_id));
#if PY_VERSION_HEX >= 0x030d0000
	IS(frame, offsetof(PyThreadState, current_frame));
	IS(code, offsetof(_PyInterpreterFrame, f_executable));
	IS(instruction, offsetof(_PyInterpreterFrame, instr_ptr));
#else
	IS(frame, offsetof(PyThreadState, cframe));
	IS(cframe_frame, offsetof(_PyCFrame, current_frame));
	IS(code, offsetof(_PyInterpreterFrame, f_code));
	IS(instruction, offsetof(_PyInterpreterFrame, prev_instr));
#endif
#if PY_VERSION_HEX >= 0x030c0000
	IS(gil_pointer, offsetof(PyInterpreterState, ceval.gil));
#else
	IS(entry, offsetof(_PyInterpreterFrame, is_entry));
	IS(gil, offsetof(_PyRuntimeState, ceval.gil));
#endif
	IS(interpreters, offsetof(_PyRuntimeState, interpreters.head));
	IS(threads, offsetof(PyInterpreterState, threads.head));
	IS(previous, offsetof(_PyInterpreterFrame, previous));
	IS(owner, offsetof(_PyInterpreterFrame, owner));
	IS(frame_size, offsetof(_PyInterpreterFrame, localsplus));
	IS(locals, offsetof(_PyInterpreterFrame, localsplus));
	IS(nlocals, offsetof(PyCodeObject, co_nlocalsplus));
	IS(exceptions, offsetof(PyCodeObject, co_exceptiontable));
	IS(name, offsetof(PyCodeObject, co_qualname));
	IS(lines, offsetof(PyCodeObject, co_linetable));
	IS(bytecode, offsetof(PyCodeObject, co_code_adaptive));
	IS(code_size, offsetof(PyCodeObject, co_code_adaptive));
}
#else
static void compare_frames(const struct python_layout *l)
{
	IS(interpreters, offsetof(_PyRuntimeState, interpreters.head));
	IS(threads, offsetof(PyInterpreterState, tstate_head));
	IS(gil, offsetof(_PyRuntimeState, ceval.gil));
	IS(pthread, offsetof(PyThreadState, thread_id));
	IS(frame, offsetof(PyThreadState, frame));
	IS(previous, offsetof(PyFrameObject, f_back));
	IS(code, offsetof(PyFrameObject, f_code));
	IS(values, offsetof(PyFrameObject, f_valuestack));
	IS(instruction, offsetof(PyFrameObject, f_lasti));
	IS(nblocks, offsetof(PyFrameObject, f_iblock));
	IS(blocks, offsetof(PyFrameObject, f_blockstack));
	IS(frame_size, offsetof(PyFrameObject, f_blockstack));
	IS(block, sizeof(PyTryBlock));
	IS(height, offsetof(PyTryBlock, b_level));
	IS(name, offsetof(PyCodeObject, co_name));
#if PY_VERSION_HEX >= 0x030a0000
	IS(lines, offsetof(PyCodeObject, co_linetable));
	IS(code_size, offsetof(PyCodeObject, co_linetable) + sizeof(PyObject *));
#else
	IS(lines, offsetof(PyCodeObject, co_lnotab));
	IS(code_size, offsetof(PyCodeObject, co_lnotab) + sizeof(PyObject *));
#endif
}
#endif

int main(void)
{
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
		if (layouts[i].version != PY_VERSION_HEX >> 16)
			continue;
		compare_values(&layouts[i]);
		compare_frames(&layouts[i]);
	}
	printf("%d compared, %d wrong\n", compared, wrong);
	return wrong || !compared;
}
