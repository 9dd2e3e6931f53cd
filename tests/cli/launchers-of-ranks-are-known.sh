# SPDX-License-Identifier: Apache-2.0
# limit: 300
# Whatever launcher of ranks elsewhere is recorded alone, itself, by its path, or within a script or another program: the one verdict says so and what to
# type, and nothing is advised, praised or blamed. Of a launcher whose ranks are here nothing is said.
. "$TOP/tests/lib.sh"
mkdir bin
cat >bin/flux-run.py <<'END'
import time
time.sleep(0.6)
END
for name in srun aprun jsrun lrun palsrun prun mpirun mpiexec mpiexec.hydra mpirun.openmpi orterun prterun ssh oarsh blaunch; do
	cp /bin/sleep "bin/$name"
done
PATH=$PWD/bin:$PATH

elsewhere() { # LAUNCHER-AS-IT-IS-CALLED COMMAND...
	local name=$1
	shift
	rm -rf out
	"$SONDE" run -q -i 50ms -o out -- "$@" || fail "$*: $?"
	"$SONDE" show --json out >told.json
	equal "verdicts of $*" ranks-elsewhere "$(jq -r '[.verdicts[].rule] | join(" ")' told.json)"
	jq -r '.verdicts[0].sentence' told.json >sentence
	contains sentence "The ranks that $name started ran out of reach"
	contains sentence "$name sonde run -- ./app"
	equal "advice on $*" "" "$(jq -r '.verdicts[].next // empty' told.json)"
}
for name in srun aprun jsrun lrun palsrun prun; do
	elsewhere $name $name 0.6
	elsewhere $name bash -c "$name 0.6; true"
done
elsewhere srun "$PWD/bin/srun" 0.6
elsewhere srun env A=b nice srun 0.6
elsewhere srun sh -c 'for i in 1 2 3; do srun 0.3; done'
elsewhere srun timeout 20 bash -c 'cd /; "$0"/srun 0.6 | cat' "$PWD/bin"
elsewhere "flux run" "$PYTHON" bin/flux-run.py
# mpirun reaches other nodes by something: then its ranks are there, too.
for pair in mpirun:srun mpirun:ssh mpiexec:ssh mpiexec.hydra:srun mpirun.openmpi:oarsh orterun:ssh prterun:ssh mpirun:blaunch; do
	name=${pair%:*}
	elsewhere "${name%%.*}" bash -c "$name 0.6 & ${pair#*:} 0.6; wait"
done
elsewhere srun "$PYTHON" -c 'import subprocess; subprocess.run(["srun", "0.6"])'

# Not elsewhere: mpirun on this node only, ssh alone, a program whose name begins so, one that has it as an argument.
cp /bin/sleep bin/mpirunner
cp /bin/sleep bin/srunner
here() {
	rm -rf out
	"$SONDE" run -q -i 50ms -o out -- "$@" || fail "$*: $?"
	equal "verdict of $*" 0 "$("$SONDE" show --json out | jq '[.verdicts[] | select(.rule == "ranks-elsewhere")] | length')"
}
here mpirun 0.6
here bash -c 'mpiexec 0.3; true'
here ssh 0.6
here srunner 0.6
here mpirunner 0.6
here bash -c 'sleep 0.6; true srun'
