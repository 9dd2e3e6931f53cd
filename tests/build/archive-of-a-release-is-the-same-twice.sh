# SPDX-License-Identifier: Apache-2.0
# The archives of a release depend on names, contents and who may execute them: not on times, owners, umask or the order of a folder.
. "$TOP/tests/lib.sh"
need zstd

tree() { # FOLDER FILE...: in this order
	local folder=$1 file
	shift
	mkdir -p "$folder/bin" "$folder/share"
	for file; do
		echo "contents of $file" >"$folder/$file"
	done
	chmod 755 "$folder/bin/sonde"
	ln -s sonde "$folder/bin/perfmon"
}

pack() { # FOLDER NAME
	"$PYTHON" "$TOP/release/archive.py" "$1" sonde-1 1700000000 "$2.tar.gz" "$2.tar.zst" || fail "archive.py $1"
}

(umask 077 && tree one bin/sonde share/a share/b share/Z)
(umask 002 && tree two share/Z share/b share/a bin/sonde)
touch -d 2001-01-01 two/share/a
pack one one
pack two two
cmp one.tar.gz two.tar.gz || fail "tar.gz: two packings differ"
cmp one.tar.zst two.tar.zst || fail "tar.zst: two packings differ"

mkdir there
tar -C there -xf one.tar.gz
equal "a program" 755 "$(stat -c %a there/sonde-1/bin/sonde)"
equal "a file" 644 "$(stat -c %a there/sonde-1/share/a)"
equal "a link" sonde "$(readlink there/sonde-1/bin/perfmon)"
equal "the date of a file" 1700000000 "$(stat -c %Y there/sonde-1/share/a)"
cmp there/sonde-1/share/a one/share/a || fail "contents"
zstd -dcq one.tar.zst | cmp - <(gzip -dc one.tar.gz) || fail "the two archives hold different things"

chmod 644 two/bin/sonde
pack two other
! cmp -s one.tar.gz other.tar.gz || fail "who may execute a file does not count"
