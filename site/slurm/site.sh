# SPDX-License-Identifier: Apache-2.0
# What the scripts of this folder share, and how root does something as the job's user. $here is this folder.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
cd / || exit 0

# shellcheck source=site.conf
. "$here/site.conf"

# One recording for all nodes; the job may make one of its own.
job=$SLURM_JOB_ID
[ -z "${SLURM_ARRAY_TASK_ID:-}" ] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
recording=$folder/sonde_$job.site

# Where the prolog leaves the process that it started, for the epilog of the same node.
started=$state/$SLURM_JOB_ID.${SLURMD_NODENAME:-}

# Nothing of slurmd's environment reaches the user's processes.
as_user() { # [NAME=VALUE...] COMMAND...
	home=$(getent passwd "$SLURM_JOB_UID" | cut -d : -f 6)
	exec setpriv --reuid="$SLURM_JOB_UID" --regid="$(id -g "$SLURM_JOB_UID")" --init-groups --inh-caps=-all \
		env -i PATH="$PATH" HOME="${home:-/}" USER="$SLURM_JOB_USER" LOGNAME="$SLURM_JOB_USER" "$@"
}

# slurmd kills what is left in the group of a prolog or epilog: this returns when COMMAND has left it, and closed the standard output that is read here.
detach() { # COMMAND...
	: "$(setsid sh -c 'exec "$@" >/dev/null' sh "$@" </dev/null 2>/dev/null &)"
}

start_time() { # PID: in clock ticks since the machine's start
	cut -d ' ' -f 22 "/proc/$1/stat" 2>/dev/null
}

log() {
	logger -t sonde -- "job $SLURM_JOB_ID: $*"
}
