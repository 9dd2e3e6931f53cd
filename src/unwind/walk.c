/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/walk.h"

bool walk_place(const struct space *space, const struct modules *modules, uint64_t pc,
		struct place *out)
{
	const struct mapping *m = space_find(space, pc);
	uint64_t offset;

	*out = (struct place){ .module = MODULE_NONE, .address = pc };
	if (!m)
		return false;
	out->module = m->module;
	if (!m->module || m->module == MODULE_JIT)
		return true;
	offset = pc - m->start + (m->module == MODULE_VDSO ? 0 : m->offset);
	if (!module_address(&modules->row[m->module], offset, &out->address))
		out->address = offset;
	return true;
}

void walk(struct stack *s, struct registers *r, const struct walker *by)
{
	enum step step = STEP_SIGNAL;

	s->n = s->flags = 0;
	while (step == STEP_CALLER || step == STEP_SIGNAL) {
		struct place *place = &s->place[s->n];
		bool called = step == STEP_CALLER;
		uint64_t pc = r->v[REG_PC] - called;

		if (s->n == DEPTH_MAX) {
			step = STEP_CUT;
		} else if (!by->place(by->of, pc, place)) {
			step = STEP_LOST;
		} else {
			s->n++;
			step = by->step(by->of, place, pc, r);
			if (step == STEP_SIGNAL && called)
				place->address++; /* nothing was called: it returns to where it
						     begins */
		}
	}
	s->flags = step == STEP_CUT ? FRAME_CUT : step == STEP_LOST ? FRAME_LOST_WAY : 0;
}
