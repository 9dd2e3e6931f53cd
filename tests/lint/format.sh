# SPDX-License-Identifier: Apache-2.0
# limit: 600
# C is laid out as .clang-format says; shell scripts please shellcheck. A file that was found so is not read again until it, the programs or the
# rules change: build/format.clean has the checksums. With LONG all are read.
. "$TOP/tests/lib.sh"
need clang-format
need shellcheck
cd "$TOP" || exit 1
status=0
clean=$BUILD/format.clean
found=$OLDPWD/found
rules=$({ cat .clang-format tests/lint/format.sh && clang-format --version && shellcheck --version; } | sha256sum)
if [ -n "$LONG" ] || ! grep -sqxF "$rules" "$clean"; then
	echo "$rules" >"$clean"
fi

changed() { # FIND-ARGUMENTS...: checksums and names of files not known to be clean
	find "$@" -not -path '*/node_modules/*' -exec sha256sum {} + | grep -vxFf "$clean"
}

names() { # FILE: those in it, each with its end
	sed 's/^[^ ]*  //' "$1" | tr '\n' '\0'
}

changed src include tests bench examples site \( -name '*.c' -o -name '*.h' \) >"$OLDPWD/c"
if names "$OLDPWD/c" | xargs -0 -r -n 64 -P "${JOBS:-2}" clang-format --dry-run --Werror 2>"$found"; then
	cat "$OLDPWD/c" >>"$clean"
else
	status=1
	[ -s "$found" ] || echo "clang-format failed"
	sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/clang-format -i \1/p' "$found" | sort -u
	grep 'error:' "$found" | grep -v 'code should be clang-formatted'
fi
shellcheck -s sh dev .ci/run || status=1
(cd site/slurm && shellcheck -x -s sh -S warning prolog epilog beside after) || status=1
changed tests bench -name '*.sh' >"$OLDPWD/sh"
# What scripts source is read with them, changed or not: their variables come from there.
sourced=()
for file in tests/lib.sh tests/shared.sh bench/bar.sh bench/tree.sh bench/floor.sh tests/*/harness/*.sh; do
	[ ! -e "$file" ] || sourced+=("$file")
done
if names "$OLDPWD/sh" | xargs -0 -r shellcheck -s bash -S warning "${sourced[@]}"; then
	cat "$OLDPWD/sh" >>"$clean"
else
	status=1
fi
echo "read $(cat "$OLDPWD/c" "$OLDPWD/sh" | wc -l) files"
exit $status
