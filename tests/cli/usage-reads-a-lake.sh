# SPDX-License-Identifier: Apache-2.0
# What the jobs of a group of users requested and used is read from the files of a lake alone: by project, user and day; files that hold nothing of
# it are named, and nothing that others put there is believed to be more than a job.
. "$TOP/tests/lib.sh"
export SONDE_HISTORY=off
lake=$PWD/the-lake

job() { # ID NAME USER ACCOUNT STATUS
	local status=0
	SLURM_JOB_ID=$1 SLURM_JOB_NAME=$2 SLURM_JOB_USER=$3 SLURM_JOB_ACCOUNT=$4 SLURM_CLUSTER_NAME=alpha SLURM_JOB_CPUS_PER_NODE=2 SLURM_MEM_PER_NODE=2048 \
		SLURM_JOB_NUM_NODES=1 "$SONDE" run -q -i 50ms -o "run$1" -- "$PROGRAMS/spin" 200000 "$5" || status=$?
	equal "status of job $1" "$5" $status
	"$SONDE" export --lake "$lake" "run$1" 2>/dev/null || fail "export of job $1"
}

job 1 train anna physics 0
job 2 train bert physics 1
job 3 eval anna chemistry 0
# The files are all that is read.
rm -r run1 run2 run3
day=$(echo "$lake"/cluster=alpha/date=*)

usage() {
	"$SONDE" usage --lake "$lake" --json "$@"
}
groups() { # ARGUMENTS...: each group with its runs and failures, in their order
	usage "$@" | json_says -r '[.groups[] | "\(.name) \(.runs) \(.failed)"] | join(", ")'
}
equal "by project" "physics 2 1, chemistry 1 0" "$(groups --by account)"
equal "by user" "anna 2 0, bert 1 1" "$(groups --by user)"
equal "a group of users" "train 2 1, eval 1 0" "$(groups --user 'anna,bert')"
equal "of one project" "anna 1 0, bert 1 1" "$(groups --by user --account 'phys*')"
equal "since yesterday" "anna 2 0, bert 1 1" "$(groups --by user --since 1d)"
equal "in days to come" "" "$(groups --since 2100-01-01)"
usage --by account >all
equal "requested" "2 2147483648" "$(jq -r '.groups[0].figures | "\(.cores_used.asked) \(.peak_memory_bytes.asked)"' all)"
holds "core hours" "$(jq '.groups[0].totals.core_hours | .runs == 2 and .used > 0 and .asked > .used' all | sed 's/true/1/')"

"$SONDE" usage --lake "$lake" --by account >text 2>err || fail "usage"
contains text "physics: 2 runs, 1 failed"
contains text "requested"
[ ! -s err ] || fail "said: $(cat err)"

# A day of which nobody asks is not opened.
mkdir "${day%date=*}date=2001-01-01"
echo damaged >"${day%date=*}date=2001-01-01/old.parquet"
"$SONDE" usage --lake "$lake" --since 2020-01-01 >/dev/null 2>err || fail "usage since"
[ ! -s err ] || fail "said: $(cat err)"
rm -r "${day%date=*}date=2001-01-01"

# Files without a summary, cut ones, and what is none.
"$SONDE" run -q -o plain -- true && "$SONDE" export --to parquet -o plain plain 2>/dev/null && cp plain/series.parquet "$day/plain.parquet" || fail "a plain file"
head -c 1000 "$day/1.parquet" >"$day/cut.parquet"
printf 'PAR1\377\377\377\377PAR1' >"$day/odd.parquet"
: >"$day/empty.parquet"
mkfifo "$day/pipe.parquet"
echo more >"$day/.4.new"
equal "beside files of no job" "physics 2 1, chemistry 1 0" "$(groups --by account 2>err)"
contains err "files of the lake without a summary (1) are left out"
contains err "files of the lake that cannot be read (4) are left out, the first: $day/cut.parquet is no whole file of Parquet"
equal "lines" 2 "$(wc -l <err)"

refused() { # STATUS TEXT ARGUMENTS...
	local status=0 wanted=$1 text=$2
	shift 2
	"$SONDE" usage "$@" >/dev/null 2>err || status=$?
	equal "status of usage $*" "$wanted" $status
	one_sentence err
	contains err "$text"
}
refused 1 "cannot read the lake $PWD/none: No such file" --lake "$PWD/none"
refused 2 "--store and --lake are two places" --lake "$lake" --store x.sqlite
