# SPDX-License-Identifier: Apache-2.0
# A helper that another release of Sonde left behind is not started: who needs it says which versions do not match, and everything else works.
# A program that is moved with its helpers while it runs finds them again.
. "$TOP/tests/lib.sh"
[ -x "$LIBEXEC/sonde-sqlite" ] || skip "the helper sonde-sqlite was not built"
[ -x "$LIBEXEC/sonde-unwind" ] || skip "the helper sonde-unwind was not built"
mkdir -p other/libexec/sonde
cp "$SONDE" other/sonde
cp "$LIBEXEC"/sonde-sqlite "$LIBEXEC"/sonde-unwind "$LIBEXEC"/version other/libexec/sonde
unset SONDE_LIBEXEC

other/sonde run -q --stacks -o same -- "$PROGRAMS/spin" 300000
other/sonde export --to sqlite -o same.db same 2>err || fail "helpers of this version: $(cat err)"

echo 9.8.7 >other/libexec/sonde/version
other/sonde run -q --stacks -o mixed -- "$PROGRAMS/spin" 300000
equal "exit code" 0 "$(figure mixed .job.exit_code)"
contains <(figure mixed '.nodes[0].metadata["source.stacks"]') "sonde-unwind is of Sonde 9.8.7, and this is Sonde $("$SONDE" --version | cut -d ' ' -f 2); install both from one release"
equal "status of an export" 1 "$(status_of other/sonde export --to sqlite -o mixed.db mixed 2>err)"
one_sentence err
contains err "sonde-sqlite is of Sonde 9.8.7"
[ ! -e mixed.db/series.sqlite ] || fail "an export without its helper left a file"
other/sonde export --to csv -o csv mixed 2>err || fail "an export that needs no helper: $(cat err)"
other/sonde show mixed >shown
contains shown "exit code 0"
tr -s ' \n' ' ' <shown | grep -qF "the helper $PWD/other/libexec/sonde/sonde-unwind is of Sonde 9.8.7" || fail "the summary does not name it: $(cat shown)"
if [ -x "$LIBEXEC/sonde-draw" ]; then
	cp "$LIBEXEC/sonde-draw" other/libexec/sonde
	other/sonde report -o page mixed >out 2>err || fail "a report without paper: $(cat err)"
	one_sentence err
	contains err "no PDF: "
	[ -s page/report.html ] || fail "the page was not written"
fi

"$SONDE" --version | cut -d ' ' -f 2 >other/libexec/sonde/version
other/sonde run -q --stacks -o moved -- sh -c 'mv other elsewhere; exec "$PROGRAMS/spin" 300000 5' || [ $? = 5 ] || fail "the job's own exit code"
equal "exit code" 5 "$(figure moved .job.exit_code)"
elsewhere/sonde export --to sqlite -o moved.db moved 2>err || fail "helpers that were moved: $(cat err)"
