# SPDX-License-Identifier: Apache-2.0
# What a script prints is stored and read again: a result that is not UTF-8 is refused where it comes in.
. "$TOP/tests/lib.sh"
printf '{"name":"a","framework":"\377\376","@parameters":{},"@result":{"x":1}}' >bad.json
"$SONDE" bench check bad.json >said
equal "exit status" 1 $?
contains said "not UTF-8"
sed 's/\xff\xfe/\xc3\xbc/' bad.json >good.json
"$SONDE" bench check good.json >said
equal "exit status" 0 $?
