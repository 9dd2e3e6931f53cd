/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/crowd.h"

#include "base/clock.h"

#include <sys/socket.h>

static void enter(struct crowd *w, struct MHD_Connection *c, void **guest)
{
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	for (int i = 0; fd && i < CROWD_MAX; i++) {
		struct guest *g = &w->guest[i];

		if (g->here)
			continue;
		*g = (struct guest){ (int)fd->connect_fd, clock_mono_ns() + CROWD_ASK_S * NS_PER_S,
				     true };
		*guest = g;
		return;
	}
}

void crowd_notify(void *crowd, struct MHD_Connection *c, void **guest,
		  enum MHD_ConnectionNotificationCode code)
{
	struct crowd *w = crowd;

	pthread_mutex_lock(&w->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		enter(w, c, guest);
	else if (*guest)
		((struct guest *)*guest)->here = false;
	pthread_mutex_unlock(&w->lock);
}

static void allow(struct crowd *w, struct MHD_Connection *c, int64_t until_ns)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	pthread_mutex_lock(&w->lock);
	if (i && i->socket_context)
		((struct guest *)i->socket_context)->until_ns = until_ns;
	pthread_mutex_unlock(&w->lock);
}

void crowd_asked(struct crowd *w, struct MHD_Connection *c)
{
	allow(w, c, clock_mono_ns() + CROWD_ANSWER_S * NS_PER_S);
}

void crowd_stays(struct crowd *w, struct MHD_Connection *c)
{
	allow(w, c, INT64_MAX);
}

void crowd_done(struct crowd *w, struct MHD_Connection *c)
{
	allow(w, c, clock_mono_ns() + CROWD_ASK_S * NS_PER_S);
}

/* Its end is seen by the thread that serves it, which then closes it. */
void crowd_expel(struct crowd *w)
{
	int64_t now = clock_mono_ns();

	pthread_mutex_lock(&w->lock);
	for (int i = 0; i < CROWD_MAX; i++)
		if (w->guest[i].here && now > w->guest[i].until_ns)
			shutdown(w->guest[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&w->lock);
}
