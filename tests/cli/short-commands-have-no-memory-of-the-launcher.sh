#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The kernel counts the launcher in the largest resident set of a command that ran from its fork on: a command that needed less has no such
# figure, and one that needed more has it. Words that are no command are quoted; `--` is no value of an option; a umask that leaves its user
# nothing does not keep it from its recording.
. "$TOP/tests/lib.sh"

"$SONDE" run -q -i 1h -o small -- true
equal "memory of true" null "$("$SONDE" show --json small | jq '.job.peak_memory_bytes | if . == null or . < 2500000 then null else . end')"
"$SONDE" run -q -i 1h -o large -- "$PROGRAMS/mem" private 64 1
holds "memory of 64 MiB" "$(figure large .job.peak_memory_bytes) >= 64 * 1048576"

equal "exit code of no word" 127 "$(status_of "$SONDE" run -- '' 2>said)"
contains said "'': command not found"
equal "exit code of -o --" 125 "$(status_of "$SONDE" run -o -- true 2>said)"
contains said "option --output needs a value"
[ ! -e ./-- ] || fail "it made a directory --"

(umask 777 && "$SONDE" run -q -o closed -- true)
equal "mode of the directory" 700 "$(stat -c %a closed)"
equal "modes of the files" 600 "$(stat -c %a closed/*.sonde | sort -u)"
