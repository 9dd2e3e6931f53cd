/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - the columns of the tables of `sonde top`: headings, keys, order and help. */
#include "top/view_part.h"

/* clang-format off */
const struct column columns_of_nodes[COLUMNS_OF_NODES] = {
	{ 'N', COLUMN_NAME, 0, 8, 0, "NODE", "the node, and the number of its recorder if it had several" },
	{ 'S', COLUMN_STATE, 0, 7, 0, "STATE", "running, late, silent, waiting, ended, damaged, unreadable" },
	{ 'C', COLUMN_FIGURE, NOW_CPU_RATIO, 5, 0, "CPU%", "CPU time, of the cores that the job may use" },
	{ 0, COLUMN_FIGURE, NOW_CPU, 6, 4, "CORES", "cores in use" },
	{ 'M', COLUMN_FIGURE, NOW_MEMORY_RATIO, 5, 1, "MEM%", "memory, of its limit: asked for, allowed, or the node's" },
	{ 0, COLUMN_FIGURE, NOW_MEMORY, 10, 3, "MEMORY", "memory of the job: PSS, or RSS where PSS is not known" },
	{ 'G', COLUMN_FIGURE, NOW_GPU, 5, 2, "GPU%", "use of the GPUs, their average" },
	{ 'R', COLUMN_FIGURE, NOW_READ, 10, 5, "READ", "bytes read a second, from cache or not" },
	{ 'W', COLUMN_FIGURE, NOW_WRITTEN, 10, 6, "WRITTEN", "bytes written a second" },
	{ 'P', COLUMN_FIGURE, NOW_PROCESSES, 5, 7, "PROCS", "processes that live" },
};

const struct column columns_of_processes[COLUMNS_OF_PROCESSES] = {
	{ 'I', COLUMN_PID, 0, 7, 1, "PID", "the process's id" },
	{ 'C', COLUMN_FIGURE, NOW_CPU, 6, 0, "CORES", "cores in use" },
	{ 'M', COLUMN_FIGURE, NOW_MEMORY, 10, 0, "RSS", "resident memory; shared pages count in full" },
	{ 'R', COLUMN_FIGURE, NOW_READ, 10, 3, "READ", "bytes read a second, from cache or not" },
	{ 'W', COLUMN_FIGURE, NOW_WRITTEN, 10, 4, "WRITTEN", "bytes written a second" },
	{ 'H', COLUMN_FIGURE, NOW_THREADS, 4, 5, "THR", "threads" },
	{ 'T', COLUMN_FIGURE, NOW_CPU_TIME, 11, 2, "CPU TIME", "CPU time so far" },
	{ 0, COLUMN_WAIT, 0, 21, 6, "WAITS FOR", "what it waits for, or runs; of processes of this machine" },
	{ 'N', COLUMN_NAME, 0, 8, 0, "COMMAND", "its command line where there is room, else its name" },
};

const struct column columns_of_gpus[COLUMNS_OF_GPUS] = {
	{ 'N', COLUMN_NAME, 0, 8, 0, "GPU", "its name" },
	{ 'G', COLUMN_FIGURE, NOW_GPU, 5, 0, "GPU%", "time in which a kernel ran" },
	{ 'M', COLUMN_FIGURE, NOW_GPU_MEMORY_RATIO, 5, 1, "MEM%", "memory that is allocated" },
	{ 0, COLUMN_FIGURE, NOW_GPU_MEMORY, 10, 2, "MEMORY", "memory that is allocated" },
	{ 0, COLUMN_FIGURE, NOW_GPU_MEMORY_TOTAL, 10, 5, "OF", "memory that it has" },
	{ 'P', COLUMN_FIGURE, NOW_POWER, 9, 3, "POWER", "power" },
	{ 'T', COLUMN_FIGURE, NOW_TEMPERATURE, 10, 4, "TEMP", "temperature" },
};
/* clang-format on */
