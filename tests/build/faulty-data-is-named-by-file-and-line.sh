# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2086,SC2046,SC2012
# What travels in the program is read when it is built: a fault in rules, phases, classes, pipelines, events, maps or models stops the
# build, and is named with the file and its own line.
. "$TOP/tests/lib.sh"
kinds="rules phases classes pipelines events maps models"

# The build reads all of them.
make -C "$TOP" -n --no-print-directory BUILD="$BUILD" V=1 -W src/main.c "$BUILD/sonde" >recipe 2>&1 || fail "make -n: $(cat recipe)"
sed -n 's/^.*sonde\.unchecked docs check //p' recipe | tr ' ' '\n' | sed '/^$/d' | sort >files
(cd "$TOP" && ls $(printf '%s/*.* ' $kinds)) | sort >there
diff -u there files || fail "what the build reads is not what there is"

for kind in $kinds; do cp -R "$TOP/$kind" .; done
"$SONDE" docs check $(cat files) >said 2>&1 || fail "the files as they are: $(cat said)"
[ ! -s said ] || fail "said of files without a fault: $(cat said)"

faulty() { # FILE LINES: with these lines at its end, the last of which is wrong
	local line status=0
	cp "$1" kept
	printf '%b\n' "$2" >>"$1"
	line=$(wc -l <"$1")
	"$SONDE" docs check $(cat files) >out 2>said || status=$?
	equal "exit code with a fault in $1" 1 $status
	one_sentence said
	contains said "sonde: $1:$line:"
	mv kept "$1"
}

for file in $(cat files); do
	case $file in
	*.rules) faulty "$file" '\nrule: broken\nabout: A.\nseverity: bad\nsay: B.\nwhen: exit_code +' ;;
	*.phases | *.classes | *.pipelines) faulty "$file" '\nnonsense' ;;
	*.events | *.map | *.model) faulty "$file" 'nonsense of nothing' ;;
	*) fail "$file: a kind of file that this test does not know" ;;
	esac
done
# A rule of one file again in another.
name=$(sed -n 's/^rule: //p' rules/10-ending.rules | head -n 1)
faulty rules/90-monitor.rules "\nrule: $name"
