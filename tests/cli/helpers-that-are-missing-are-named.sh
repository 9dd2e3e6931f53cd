#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each helper that is not there is named in one sentence by what needs it, and all else works: the job runs and is recorded, whatever was asked to
# be recorded of it.
. "$TOP/tests/lib.sh"
need jq
unset SONDE_LIBEXEC
mkdir -p one/bin one/libexec
cp "$SONDE" one/bin/sonde
cp -a "$LIBEXEC" one/libexec/
[ -e one/libexec/sonde/sonde-sqlite ] || cp -a "$LIBEXEC/." one/libexec/sonde/ # it was a link
sonde=$PWD/one/bin/sonde
"$sonde" run -q -i 50ms -o rec -- true || fail "a recording"
printf 'identifier: x\nscript: true\n' >sweep.yaml

without() { # FILE COMMAND...: its status in $status, what it says in the file err
	local file=one/libexec/sonde/$1
	[ -e "$file" ] || [ -L "$file" ] || {
		echo "$1 was not built"
		return 1
	}
	shift
	mv "$file" away
	status=0
	"$@" >out 2>err </dev/null || status=$?
	mv away "$file"
}
refuses() { # HELPER COMMAND...: names it, and ends with an error
	without "sonde-$1" "$sonde" "${@:2}" || return 0
	[ "$status" -ne 0 ] || fail "$2 without sonde-$1 ends with 0"
	one_sentence err
	contains err "the helper sonde-$1 is not installed"
}
records() { # FILE METADATA OPTION...: the job runs and is recorded; the recording, or where METADATA is - a line, names what is missing
	local metadata=$2 name=${1%.so}
	rm -rf "of_$name"
	# shellcheck disable=SC2016
	without "$1" "$sonde" run -q "${@:3}" -o "of_$name" -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; exit 3' || return 0
	equal "status of the job without $1" 3 "$status"
	equal "exit code without $1" 3 "$(figure "of_$name" .job.exit_code)"
	if [ "$metadata" = - ]; then
		one_sentence err
		contains err "$1 is not installed"
	else
		[ ! -s err ] || fail "run without $1: $(cat err)"
		contains <(figure "of_$name" "$metadata") "$1 is not installed"
	fi
}

records sonde-unwind '.nodes[0].metadata["source.stacks"]' --stacks
records sonde-unwind '.nodes[0].metadata["source.waits"]' --waits
records sonde-files '.nodes[0].metadata["source.files"]' --files
records sonde-iterator - --tree bpf
records libsonde_inject.so - --annotations mpi,nvtx
if [ -e one/libexec/sonde/libsonde_inject.so ]; then
	cp -a one 'in a folder'
	equal "status in a folder whose name has a space" 3 "$(status_of 'in a folder/bin/sonde' run -q -o of_space --annotations mpi -- sh -c 'exit 3' 2>err)"
	one_sentence err
	contains err "a folder with a space"
fi
refuses sqlite export --to sqlite -o tables rec
refuses hdf5 export --to hdf5 -o tables rec
refuses serve serve rec
refuses yaml bench sweep sweep.yaml
refuses indicator bench run -n 2 matmul
refuses database ls --history
refuses http push --to mlflow --url http://127.0.0.1:1 rec

# What does not need it is written all the same.
if without sonde-draw "$sonde" report -o page rec; then
	equal "status of a report without paper" 0 "$status"
	one_sentence err
	contains err "the helper sonde-draw is not installed"
	[ -s page/report.html ] || fail "the page was not written"
fi
if without sonde-sqlite "$sonde" export --to csv,sqlite -o both rec; then
	[ "$status" -ne 0 ] || fail "an export of which a half is missing ends with 0"
	contains err "the helper sonde-sqlite is not installed"
	[ -s both/series.csv ] || fail "the other half was not written"
fi

# One that cannot start, as its libraries are not there, is not tried again, and is named likewise.
cannot_start() { # HELPER COMMAND...: its status in $status, what it says in the file err
	local file=one/libexec/sonde/sonde-$1
	[ -e "$file" ] || return 1
	mv "$file" away
	printf '#!/bin/sh\nexit 127\n' >"$file"
	chmod +x "$file"
	status=0
	"${@:2}" >out 2>err </dev/null || status=$?
	mv -f away "$file"
}
available='' why=$([ -n "${RELEASED:-}" ] || echo "it needs Debian's ")$(remedy libdw1)
for option in stacks:stacks waits:waits memory:touches; do
	name=${option%:*} source=${option#*:}
	"$sonde" run -q "--$name" -o "with_$name" -- true || fail "run --$name"
	cannot_start unwind "$sonde" run -q "--$name" -o "broken_$name" -- "$PROGRAMS/spin" 300000 3 || break
	equal "status of the job whose helper for $name cannot start" 3 "$status"
	figure "with_$name" ".nodes[0].metadata[\"source.$source\"] // \"none\"" | grep -qx none || continue # refused for another reason
	contains <(figure "broken_$name" ".nodes[0].metadata[\"source.$source\"]") "the helper sonde-unwind cannot start; "
	equal "how often that for $name was started again" null "$(figure "broken_$name" ".nodes[0].metadata[\"$source.helper_restarts\"]|tostring")"
	"$sonde" show "broken_$name" >out && tr -s ' \n' ' ' <out >shown
	contains shown "unsupported: the helper sonde-unwind cannot start"
	available=$available\ $source
done
cannot_start unwind "$sonde" doctor && for source in $available; do
	grep -A 1 " $source: " out >said
	contains said "the helper sonde-unwind cannot start; $why"
done
if cannot_start files "$sonde" run -q --files -o broken_files -- "$PROGRAMS/spin" 300000 3; then
	equal "status of the job whose helper for files cannot start" 3 "$status"
	[ ! -s err ] || fail "run --files whose helper cannot start: $(cat err)"
	figure broken_files '.nodes[0].metadata["source.files"]' >said
	contains said "the helper sonde-files cannot start; "
	contains said "$(remedy libc6)"
fi
for helper in "http libcurl4 push --to mlflow --url http://127.0.0.1:1 rec" "database libsqlite3-0 ls --history"; do
	# shellcheck disable=SC2086 # a word each
	set -- $helper
	cannot_start "$1" "$sonde" "${@:3}" || continue
	equal "status of $3 whose helper cannot start" 1 "$status"
	one_sentence err
	contains err "sonde-$1 ended too early; "
	contains err "$(remedy "$2")"
done

# Without any the program records, shows, finds and exports.
rm -r one/libexec
"$sonde" run -o none -- true 2>said || fail "run without helpers"
! grep -i helper said || fail "run needs a helper: $(cat said)"
for command in "show --all none" "export --to csv,json,parquet -o of_none none" "ls" "phases none" "doctor" "compare none none" "explain none"; do
	# shellcheck disable=SC2086
	"$sonde" $command >out 2>err || [ "$command" != "${command#compare}" ] || fail "$command without helpers: $(cat err)"
done
