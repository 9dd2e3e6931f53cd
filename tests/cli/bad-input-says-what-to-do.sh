# SPDX-License-Identifier: Apache-2.0
# What is no recording, or not readable, or not known: one sentence that names it, nothing on standard output, nothing lost.
. "$TOP/tests/lib.sh"

refuses() { # EXIT-STATUS TEXT ARGUMENTS...
	local want=$1 text=$2
	shift 2
	"$SONDE" "$@" >stdout 2>said
	equal "exit status of sonde $*" "$want" $?
	[ ! -s stdout ] || fail "sonde $*: something on standard output"
	one_sentence said
	contains said "$text"
}

mkdir empty other
echo text >other/node-x.sonde
echo text >other/notes.txt
: >nothing.sonde
head -c 100000 /dev/urandom >noise.sonde
ln -s loop loop

for verb in show report 'export --to csv'; do
	# shellcheck disable=SC2086 # verb and its options
	{
		refuses 1 missing $verb missing
		refuses 1 empty $verb empty
		refuses 1 other $verb other
		refuses 1 other/notes.txt $verb other/notes.txt
		refuses 1 nothing.sonde $verb nothing.sonde
		refuses 1 noise.sonde $verb noise.sonde
		refuses 1 loop $verb loop
		refuses 2 --no-such $verb --no-such
	}
done
equal "what is in a folder that was refused" "node-x.sonde notes.txt" "$(cd other && echo *)"
refuses 1 "no recording is in" show
refuses 2 nonsense nonsense
refuses 2 tape export --to tape other
refuses 125 --no-such run --no-such -- true
refuses 125 soon run -i soon -- true
refuses 125 1us run -i 1us -- true
refuses 125 directory run -o '' -- true
refuses 2 directory attach -o '' -p 1
refuses 2 --duration attach --duration -p 1

# An unreadable folder; root reads everything, so this one needs another user.
"$SONDE" run --quiet -o private -- true || fail "run"
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
if [ "$(id -u)" = 0 ] && as_nobody test -x "$SONDE"; then
	chmod 711 . && chmod 700 private
	as_nobody "$SONDE" show private >stdout 2>said
	equal "exit status on an unreadable folder" 1 $?
	one_sentence said
	contains said private
fi
