# SPDX-License-Identifier: Apache-2.0
# limit: 240
# The installed module files: Lmod reads both, Environment Modules the Tcl one; sonde and its manual are found, and gone again.
. "$TOP/tests/lib.sh"
make -s -C "$TOP" BUILD="$BUILD" PREFIX="$PWD/there" install || fail "make install"
unset MANPATH PKG_CONFIG_PATH MODULEPATH LOADEDMODULES _LMFILES_
tried=

try() { # MODULEFILES COMMAND...: that prints what the shell is to do
	local files=$PWD/there/share/sonde/modulefiles/$1 before=$PATH
	shift
	module() {
		eval "$("${command[@]}" "$@")"
	}
	local command=("$@")
	module use "$files"
	module load sonde || fail "$* cannot load $files"
	equal "sonde, by ${command[*]}" "$PWD/there/bin/sonde" "$(command -v sonde)"
	equal "version" "sonde $(basename "$files"/sonde/* .lua)" "$(sonde --version | cut -d' ' -f 1,2)"
	equal "manual" "$PWD/there/share/man/man1/sonde-run.1" "$(man -w sonde-run)"
	equal "library" 0 "$(status_of pkg-config --exists sonde)"
	module help sonde 2>&1 | grep -q 'srun sonde run' || fail "module help"
	module whatis sonde 2>&1 | grep -q 'how a job used' || fail "module whatis"
	module unload sonde
	equal "PATH after module unload" "$before" "$PATH"
	equal "PKG_CONFIG_PATH after module unload" "" "${PKG_CONFIG_PATH:-}"
	module unuse "$files"
	tried="$tried $(basename "$files")"
}

PATH=/usr/local/bin:/usr/bin:/bin
if [ -x /usr/share/lmod/lmod/libexec/lmod ]; then
	. /usr/share/lmod/lmod/init/bash
	try lua "$LMOD_CMD" bash
	try tcl "$LMOD_CMD" bash
elif compgen -G '/usr/lib/*/modulecmd.tcl' >/dev/null; then
	try tcl "$(compgen -G '/usr/lib/*/modulecmd.tcl' | head -n 1)" bash
fi
[ -n "$tried" ] || skip "neither Lmod nor Environment Modules is installed"
