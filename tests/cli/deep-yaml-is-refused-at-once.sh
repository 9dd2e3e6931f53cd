# SPDX-License-Identifier: Apache-2.0
# limit: 20
# A specification of 100,000 brackets is refused, where it becomes too deep, without being taken apart.
. "$TOP/tests/lib.sh"
head -c 100000 /dev/zero | tr '\0' '[' >deep.yaml
timeout "$(patience 15)" "$SONDE" bench sweep deep.yaml --dry-run >/dev/null 2>said
equal "exit status" 2 $?
contains said "it is too deep"
