# SPDX-License-Identifier: Apache-2.0
# One step after the other for so many seconds.
set end [expr {[clock seconds] + [lindex $argv 0]}]
proc step {n} { set x 1; for {set i 0} {$i < $n} {incr i} { set x [expr {($x * 7919 + $i) % 1000003}] }; return $x }
while {[clock seconds] < $end} { step 100000 }
