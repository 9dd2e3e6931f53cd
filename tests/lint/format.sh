# SPDX-License-Identifier: Apache-2.0
# limit: 600
# C is laid out as .clang-format says; shell scripts please shellcheck. A file that was found so is not read again until it, the programs or the
# rules change: build/format.clean and tests/format.clean have the beginnings of checksums; KEEP=1 writes the latter anew. With LONG all are read.
. "$TOP/tests/lib.sh"
need clang-format
need shellcheck
cd "$TOP" || exit 1
status=0
clean=$BUILD/format.clean kept=tests/format.clean
found=$OLDPWD/found
rules=$({ cat .clang-format tests/lint/format.sh && clang-format --version && shellcheck --version; } | sha256sum | cut -c -16)
if [ -n "$LONG" ]; then
	echo "$rules" >"$clean"
elif ! grep -sqxF "$rules" "$clean"; then
	if grep -sqxF "$rules" "$kept"; then cat "$kept"; else echo "$rules"; fi >"$clean"
fi

all() { # FIND-ARGUMENTS...: checksums and names of files
	find "$@" -not -path '*/node_modules/*' -exec sha256sum {} + | sed 's/^\(.\{16\}\)[^ ]*  /\1 /'
}

changed() { # FIND-ARGUMENTS...: those not known to be clean
	all "$@" | awk 'NR == FNR { clean[$1] = 1; next } !($1 in clean)' "$clean" -
}

names() { # FILE: those in it, each with its end
	cut -c 18- "$1" | tr '\n' '\0'
}

is_clean() { # FILE: so are those in it
	cut -c -16 "$1" >>"$clean"
}

of_c=(src include tests bench examples site \( -name '*.c' -o -name '*.h' \)) of_sh=(tests bench -name '*.sh')
changed "${of_c[@]}" >"$OLDPWD/c"
if names "$OLDPWD/c" | xargs -0 -r -n 64 -P "${JOBS:-2}" clang-format --dry-run --Werror 2>"$found"; then
	is_clean "$OLDPWD/c"
else
	status=1
	[ -s "$found" ] || echo "clang-format failed"
	sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/clang-format -i \1/p' "$found" | sort -u
	grep 'error:' "$found" | grep -v 'code should be clang-formatted'
fi
shellcheck -s sh dev .ci/run || status=1
(cd site/slurm && shellcheck -x -s sh -S warning prolog epilog beside after) || status=1
changed "${of_sh[@]}" >"$OLDPWD/sh"
# What scripts source is read with them, changed or not: their variables come from there.
sourced=()
for file in tests/lib.sh tests/shared.sh bench/bar.sh bench/tree.sh bench/floor.sh tests/*/harness/*.sh; do
	[ ! -e "$file" ] || sourced+=("$file")
done
if names "$OLDPWD/sh" | xargs -0 -r shellcheck -s bash -S warning "${sourced[@]}"; then
	is_clean "$OLDPWD/sh"
else
	status=1
fi
echo "read $(cat "$OLDPWD/c" "$OLDPWD/sh" | wc -l) files"
if [ -n "${KEEP:-}" ] && [ $status = 0 ]; then
	{ echo "$rules" && { all "${of_c[@]}" && all "${of_sh[@]}"; } | cut -c -16 | sort -u; } >"$kept"
fi
exit $status
