# SPDX-License-Identifier: Apache-2.0
# Single runs are told apart by how much like runs of the history vary, also of those that are gone; without them it is said what would.
. "$TOP/tests/lib.sh"
export XDG_DATA_HOME=$PWD/data
gate="processes_started>+5%"
compared() { # EXIT-CODE FILE ARGUMENTS...
	local wanted=$1 file=$2 status=0
	shift 2
	"$SONDE" compare --fail-if "$gate" "$@" >"$file" 2>said || status=$?
	equal "exit code of compare $*" "$wanted" "$status"
}

mkdir past beside
"$SONDE" run -q -o a -- sh -c '/bin/true; /bin/true; :'
OMP_NUM_THREADS=4 "$SONDE" run -q -o b -- sh -c '/bin/true; /bin/true; /bin/true; /bin/true; :'
for i in 1 2 3 4 5 6; do
	"$SONDE" run -q -o "past/$i" -- sh -c '/bin/true; /bin/true; :'
	[ "$i" != 4 ] || compared 3 too_few a b
done
contains too_few "of single" # with A there are five
"$SONDE" ls --history >listed # what has ended since goes there
rm -r past
compared 1 told a b
contains <(tr -s "\n " " " <told) "estimated from 6 similar runs"
# One that is read as a recording is not counted again.
"$SONDE" run -q -o beside/a -- sh -c '/bin/true; /bin/true; :'
for i in 1 2; do "$SONDE" run -q -o "beside/sonde_$i" -- sh -c '/bin/true; /bin/true; :'; done
mv a moved
compared 1 twice beside/a b
contains <(tr -s "\n " " " <twice) "estimated from 9 similar runs"
SONDE_HISTORY=off compared 3 off moved b
compared 3 elsewhere --history beside moved b
