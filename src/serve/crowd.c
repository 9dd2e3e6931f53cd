/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/crowd.h"

#include "base/clock.h"

#include <sys/socket.h>
#include <unistd.h>

enum { OTHERS_SHARE = 2, ONES_SHARE = 8, TELL_S = 60 };

void crowd_open(struct crowd *w, const struct sockaddr *listener, unsigned places)
{
	pthread_mutex_init(&w->lock, NULL);
	w->places = places;
	peers_open(&w->peers, listener);
}

void crowd_close(struct crowd *w)
{
	peers_close(&w->peers);
	pthread_mutex_destroy(&w->lock);
}

/* ---- who comes ---- */

/* Is there a place for one more of this user? */
static bool has_place(const struct crowd *w, uid_t uid)
{
	unsigned others = 0, same = 0;

	for (int i = 0; i < CROWD_MAX; i++)
		if (w->guest[i].here && w->guest[i].other) {
			others++;
			same += w->guest[i].uid == uid;
		}
	return others < w->places / OTHERS_SHARE && same < w->places / ONES_SHARE;
}

/* root may do anything here anyway. Who has gone already needs no place. */
enum MHD_Result crowd_admits(void *crowd, const struct sockaddr *peer, socklen_t n)
{
	struct crowd *w = crowd;
	struct guest g = { 0 };
	enum peer known = n ? peers_user(&w->peers, peer, &g.uid) : PEER_UNKNOWN;
	bool welcome;

	g.other = known == PEER_KNOWN && g.uid && g.uid != geteuid();
	pthread_mutex_lock(&w->lock);
	welcome = known != PEER_GONE && (!g.other || has_place(w, g.uid));
	w->refused += !welcome;
	w->coming = g;
	pthread_mutex_unlock(&w->lock);
	return welcome ? MHD_YES : MHD_NO;
}

static void enter(struct crowd *w, struct MHD_Connection *c, void **guest)
{
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	for (int i = 0; fd && i < CROWD_MAX; i++) {
		struct guest *g = &w->guest[i];

		if (g->here)
			continue;
		*g = (struct guest){ .fd = (int)fd->connect_fd,
				     .until_ns = clock_mono_ns() + CROWD_ASK_S * NS_PER_S,
				     .here = true,
				     .other = w->coming.other,
				     .uid = w->coming.uid };
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

uint64_t crowd_tells(struct crowd *w)
{
	int64_t now = clock_mono_ns();
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = !w->told_ns || now - w->told_ns >= TELL_S * NS_PER_S ? w->refused - w->told : 0;
	if (n) {
		w->told = w->refused;
		w->told_ns = now;
	}
	pthread_mutex_unlock(&w->lock);
	return n;
}
