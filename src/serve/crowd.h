/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - who is connected, and for how long: one that does not ask, or does not take its answer,
 * in time is put out, however slowly it goes on.
 *
 * libmicrohttpd ends connections that are silent; these send or take a byte now and then. A fixed
 * number of places; those who come when all are taken wait in the kernel's queue.
 */
#ifndef SONDE_SERVE_CROWD_H
#define SONDE_SERVE_CROWD_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { CROWD_MAX = 512, CROWD_ASK_S = 10, CROWD_ANSWER_S = 120 };

struct crowd {
	pthread_mutex_t lock;
	struct guest {
		int fd;
		int64_t until_ns; /* INT64_MAX: it may stay */
		bool here;
	} guest[CROWD_MAX];
};

/* An MHD_NotifyConnectionCallback of which the crowd is the context. */
void crowd_notify(void *crowd, struct MHD_Connection *c, void **guest,
		  enum MHD_ConnectionNotificationCode code);
/* It has asked, and takes its answer; asks for a stream and stays; is done and may ask again. */
void crowd_asked(struct crowd *w, struct MHD_Connection *c);
void crowd_stays(struct crowd *w, struct MHD_Connection *c);
void crowd_done(struct crowd *w, struct MHD_Connection *c);
/* Once a second. */
void crowd_expel(struct crowd *w);

#endif
