# SPDX-License-Identifier: Apache-2.0
# Each scenario reads the table again, for judge.py: PASSES.
passes <- as.integer(commandArgs(TRUE)[1])
total <- 0
for (i in seq_len(passes)) {
	measured <- read.csv("measured.csv")
	total <- total + mean(measured$b[measured$a %% 7 == i %% 7])
}
print(total)
