# SPDX-License-Identifier: Apache-2.0
# The R programs of the ninth set: ninth.R WHAT ARGUMENTS.
arg <- commandArgs(TRUE)
n <- as.numeric(arg[-1])

orbit <- function(steps) {
	x <- 0.3
	for (i in seq_len(steps)) x <- 3.9 * x * (1 - x)
	x
}

switch(arg[1],
	# A file is opened, gets a line and is closed, for each number.
	append = for (i in seq_len(n[1] * 1000)) cat(i, i %% 17, "\n", file = "numbers.txt", append = TRUE),
	# Each row makes a new table of all rows before it.
	rows = {
		all <- data.frame()
		for (i in seq_len(n[1])) all <- rbind(all, data.frame(id = i, name = paste("sample", i), value = i %% 7))
		print(nrow(all))
	},
	pauses = {
		print(orbit(n[1] * 1e6))
		Sys.sleep(n[2])
	},
	even = {
		library(parallel)
		orbit <- compiler::cmpfun(orbit)
		for (round in 1:3) invisible(mclapply(1:2, function(k) orbit(n[1] * 1e6), mc.cores = 2))
	})
