# SPDX-License-Identifier: Apache-2.0
# A shared recorder that cannot record: one sentence of all copies, and every task runs all the same. And one that the
# disk fills up under.
. "$TOP/tests/lib.sh"
. "$TOP/tests/shared.sh"
batch_job "$$" 4
: >"sonde_$$" # a file where the directory should be
for rank in 0 1 2 3; do
	(copy $rank bash -c "sleep 0.5; exit $rank" && echo 0 >>codes || echo $? >>codes) &
done
wait
equal "exit statuses" "$(printf '0\n1\n2\n3')" "$(sort codes)"
one_sentence said
contains said "recording: "
contains said "sonde_$$"
