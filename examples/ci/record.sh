#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records a command of a CI job, writes what Sonde found as Markdown, and compares it with the recording of the base branch.
#
# SONDE_COMMAND   the command, as sh takes it
# SONDE_OUT       directory for this recording, not there yet (default: sonde-recording)
# SONDE_BASE      directory of the base branch's recordings; nothing is compared if it does not exist (default: sonde-base)
# SONDE_KEEP      how many recordings SONDE_BASE keeps of a command that succeeded; 0: this is not the base branch (default: 0)
# SONDE_FAIL_IF   when a difference is a failure: wall_seconds>+10%; several, one a line (default: differences never fail the job)
# SONDE_SUMMARY   file to which the Markdown is appended (default: standard output)
#
# One run differs from the next by chance: with fewer than about five recordings in SONDE_BASE most comparisons are inconclusive, and fail nothing.
# Exit code: the command's; else 1 if the comparison found it worse, or 0.
set -u
out=${SONDE_OUT:-sonde-recording}
base=${SONDE_BASE:-sonde-base}
summary=${SONDE_SUMMARY:-/dev/stdout}

sonde run --quiet -o "$out" --report -- sh -c "${SONDE_COMMAND:?is the command to record}"
status=$?
sonde show --markdown "$out" >>"$summary"
if [ "${SONDE_KEEP:-0}" -gt 0 ]; then
	[ $status -eq 0 ] || exit $status
	mkdir -p "$base"
	cp -R "$out" "$base/$(date -u +%Y%m%dT%H%M%SZ)-$$"
	find "$base" -mindepth 1 -maxdepth 1 | sort -r | tail -n +$((SONDE_KEEP + 1)) | while IFS= read -r old; do rm -rf "$old"; done
	exit 0
fi
[ -d "$base" ] || {
	echo "No recording of the base branch to compare with." >>"$summary"
	exit $status
}

set --
while IFS= read -r condition; do
	[ -z "$condition" ] || set -- "$@" --fail-if "$condition"
done <<END
${SONDE_FAIL_IF:-}
END
sonde compare --markdown --html "$out/comparison.html" "$@" "$base" "$out" >>"$summary"
compared=$?
[ $status -eq 0 ] && [ $# -gt 0 ] && [ $compared -eq 1 ] || exit $status
exit 1
