# SPDX-License-Identifier: Apache-2.0
# Sonde. `make` builds build/sonde; `make help` lists the rest.
# One new file needs no line here: sources are found by name.

VERSION  := 0.1.0
PREFIX   ?= /usr/local
CC       ?= cc
BUILD    ?= build
# One name for one folder: what depends on what is written down with it.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
OPT      ?= -O2 -g
SANITIZE ?=
# WERROR=1 makes warnings errors, as ./dev check does: a user's compiler may warn of what none here knows.
WERROR   ?=
PKG_CONFIG ?= pkg-config
# For another processor: CROSS=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc RUN=qemu-aarch64, which runs what is built.
CROSS ?=
RUN   ?=

bindir     = $(PREFIX)/bin
libdir     = $(PREFIX)/lib
libexecdir = $(PREFIX)/libexec/sonde
includedir = $(PREFIX)/include
datadir    = $(PREFIX)/share

WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes \
            -Wformat=2 -Wundef -Wvla $(if $(WERROR),-Werror) \
            $(if $(findstring clang,$(CC)),-Wno-enum-float-conversion) # an unnamed enum is how C17 spells a whole constant, also in a sum of doubles
SANFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CPPFLAGS += -D_GNU_SOURCE -Isrc -Iinclude -I$(BUILD)/gen -include src/base/compat.h -DSONDE_VERSION='"$(VERSION)"' \
            -DSONDE_LIBEXEC='"$(libexecdir)"'
CFLAGS   += -std=gnu17 $(OPT) $(WARN) $(SANFLAGS) -fPIC -fvisibility=hidden -ffunction-sections
LDFLAGS  += $(SANFLAGS) -Wl,--gc-sections
# Within the programs, where it can be: one library fewer to find and map at every start. ZSTD=-lzstd takes the shared one.
ZSTD     ?= $(if $(wildcard $(shell $(CC) -print-file-name=libzstd.a)),-l:libzstd.a,-lzstd)
LDLIBS   += $(ZSTD) -lm

HASH := \#
# What nothing can be built without is looked for before anything is compiled.
ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),all)),)
ifeq ($(shell command -v $(firstword $(CC))),)
$(error $(CC) is missing (Debian: apt-get install gcc make libc6-dev); Sonde is written in C)
else ifneq ($(shell echo '$(HASH)include <zstd.h>' | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 || echo missing),)
$(error libzstd is missing (Debian: apt-get install libzstd-dev; Fedora: dnf install libzstd-devel): recordings are compressed with it)
endif
endif

# What is a program of its own: src/NAME/ is the helper sonde-NAME.
# One that needs a library of its own, NAME.needs to pkg-config, is left out where that is not there, or where NAME.check fails.
HELPERS     := nvml sqlite hdf5 draw http serve database indicator nothing yaml iterator unwind files
sqlite.needs := sqlite3
hdf5.needs   := hdf5 libdeflate
draw.needs   := pangocairo cairo-pdf cairo-svg cairo-png
http.needs   := libcurl
serve.needs  := libmicrohttpd
database.needs := sqlite3
yaml.needs     := yaml-0.1
iterator.needs := libbpf
unwind.needs   := libdw libelf
# Names of C++ are made readable where its library can be linked.
DEMANGLE := $(findstring /,$(shell $(CC) -print-file-name=libstdc++.so))
files.private  := -pthread
unwind.private := -pthread $(if $(DEMANGLE),-lstdc++)
$(BUILD)/obj/unwind/%.o: CPPFLAGS += $(if $(DEMANGLE),-DUNWIND_DEMANGLE)
# Its program for the kernel comes from clang, and is linked in as it is.
iterator.check  := clang -print-targets | grep -q '^ *bpf '
iterator.missing := or clang has no target bpf
iterator.object := $(BUILD)/gen/iterator.o
# What the indicator spawn starts: no loader is to be measured, where that can be.
nothing.link := $(if $(SANITIZE),,$(if $(wildcard $(shell $(CC) -print-file-name=libc.a)),-static))
$(BUILD)/obj/indicator/%.o: CPPFLAGS += $(if $(nothing.link),-DNOTHING_IS_STATIC)
HELPERDIR   := $(BUILD)/libexec/sonde
INJECT      := $(HELPERDIR)/libsonde_inject.so
# RELEASE=1: programs for any Linux, which `./dev release` packs. They are static, except helpers that load libraries of the machine or
# whose library has no static form: release/start.c starts these with libraries that come with them.
BUNDLED     := database draw files http indicator nvml serve unwind
ifneq ($(RELEASE),)
sqlite.link   := -static
hdf5.link     := -static
yaml.link     := -static
iterator.link := -static
hdf5.private  := -lsz -laec -lz
unwind.private := -pthread $(if $(DEMANGLE),-l:libstdc++.a -static-libgcc)
CPPFLAGS += -DSONDE_STATIC
CFLAGS   += -ffile-prefix-map=$(CURDIR)=.
LDFLAGS  += -Wl,--build-id=none
endif
LEFTOUT     := $(foreach h,$(HELPERS),$(if $($(h).needs),$(shell { $(PKG_CONFIG) --exists $($(h).needs) && $(or $($(h).check),:); } 2>/dev/null || echo $(h))))
HELPEROBJ   := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(wildcard $(patsubst %,src/%/*.c,$(filter-out $(LEFTOUT),$(HELPERS)))))
HELPERPROG  := $(patsubst %,$(HELPERDIR)/sonde-%,$(filter-out $(LEFTOUT),$(HELPERS)))

SRC  := $(filter-out $(wildcard $(HELPERS:%=src/%/*.c) $(HELPERS:%=src/%/*/*.c) src/inject/*.c),$(wildcard src/*/*.c src/*/*/*.c))
OBJ  := $(SRC:src/%.c=$(BUILD)/obj/%.o)
DEFS := $(wildcard src/*.def)
# What takes no part in recording a job or in decoding a recording: small rather than fast in releases, and with OPT_COLD else.
COLD := $(filter $(patsubst %,$(BUILD)/obj/%/%,bench chart cmd console core/expr core/host database import indicator job live output perfmon push report serve session sink/trace source/gpu source/perf source/platform store sweep top trial) \
                 $(BUILD)/obj/core/stacks/hot.o $(BUILD)/obj/base/inflate.o $(BUILD)/obj/source/infiniband.o,$(OBJ))
OPT_COLD ?=
$(COLD): CFLAGS += $(OPT_COLD)

# `make V=1` shows the whole commands.
Q := $(if $(V),,@)
, := ,
SAY = $(if $(V),@:,@echo "  $1 $(@:$(BUILD)/%=%)")

all: $(BUILD)/sonde $(BUILD)/libsonde.a $(BUILD)/libsonde.so.0 $(INJECT) $(BUILD)/docs.stamp $(BUILD)/library.stamp
	@$(foreach h,$(LEFTOUT),echo 'make: the helper sonde-$h is left out: pkg-config does not know $($h.needs)$(if $($h.missing), $($h.missing)) (on Debian, ./dev deps$(if $($h.missing), check) installs what it needs)' >&2;) :

# A file that is made may also be asked for by its full name.
$(CURDIR)/$(BUILD)/%: $(BUILD)/% ;

help:
	@echo 'make                    build/sonde, the library, man pages and completions'
	@echo 'make install            PREFIX=$(PREFIX) DESTDIR='
	@echo 'make static             build/sonde-static: a recorder that needs no shared library'
	@echo 'make syntax             what CC says of the sources, without building'
	@echo 'make unit fuzz          test programs, fuzz targets'
	@echo 'make tested             all that the tests without sanitizers need'
	@echo 'make nodes              $(BUILD)/nodes: /proc and /sys of the machines that the tests look at'
	@echo 'make accuracy           hold every figure against an independent reference, write docs/accuracy.md'
	@echo 'make causes             run jobs whose true cause is known, score what the verdicts say of them'
	@echo 'make bench              measure and print the bars; BENCHES="cost memory" only these, QUICK=1 in minutes'
	@echo 'make clean'

# What the page and the rules need travels inside the binary. uPlot comes from npm at build time.
PAGE    := $(wildcard src/report/page/web/*)
RULES   := $(wildcard rules/*.rules)
PHASES  := $(wildcard phases/*.phases)
CLASSES := $(wildcard classes/*.classes)
PIPELINES := $(wildcard pipelines/*.pipelines)
UPLOT   := src/report/page/web/node_modules/uplot/dist
EVENTS  := $(wildcard events/*.events)
MAPS    := $(wildcard maps/*.map)
MODELS  := $(wildcard models/*.model)
ASSETS  := $(BUILD)/gen/assets.o $(BUILD)/gen/events.o $(BUILD)/gen/maps.o $(BUILD)/gen/models.o $(BUILD)/gen/expand.o

# Without npm nothing is fetched: the page has plain images as charts. PLAIN=1 leaves npm alone where it is.
PLAIN ?= $(if $(or $(wildcard $(UPLOT)/uPlot.iife.min.js),$(shell command -v npm)),,1)
UPLOTFILES := js:dist/uPlot.iife.min.js css:dist/uPlot.min.css licence:LICENSE
$(UPLOT)/uPlot.iife.min.js: src/report/page/web/package-lock.json src/report/page/web/package.json
	cd src/report/page/web && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

# The long texts are compressed: src/base/packed.h.
$(BUILD)/pack: $(BUILD)/obj/pack.o $(BUILD)/obj/base/bytes.o $(BUILD)/obj/base/text/decimal.o
	$(call SAY,LD)
	$(Q)$(CC) $(LDFLAGS) $(if $(RELEASE),-static) -o $@ $^ $(LDLIBS)

# Every page has them: lines of comments and indentation stay behind.
WITHOUT_COMMENTS := -e 's/^[[:space:]]*//' -e '/^\/\//d' -e '/^\/\*.*\*\/$$/d' -e '/^\/\*/,/\*\//d' -e '/^$$/d'
$(BUILD)/gen/assets.o: src/report/assets.S $(PAGE) $(RULES) $(PHASES) $(CLASSES) $(PIPELINES) $(if $(PLAIN),,$(UPLOT)/uPlot.iife.min.js) $(BUILD)/pack | $(BUILD)/gen
	$(if $(PLAIN),@echo 'make: npm is missing: the charts of the report page are plain images' >&2)
	@rm -rf $(BUILD)/gen/web && mkdir -p $(BUILD)/gen/web
	@for file in $(UPLOTFILES); do cat $(if $(PLAIN),/dev/null,$(UPLOT)/../$${file#*:}) >$(BUILD)/gen/web/uplot.$${file%%:*}; done
	$(if $(PLAIN),@echo ';' >$(BUILD)/gen/web/uplot.js)
	@for file in $(filter %.js %.css,$(PAGE)); do sed $(WITHOUT_COMMENTS) $$file >$(BUILD)/gen/web/$${file##*/} || exit 1; done
	@for file in $(BUILD)/gen/web/*; do $(RUN) $(BUILD)/pack $$file.packed $$file || exit 1; done
	$(RUN) $(BUILD)/pack $(BUILD)/gen/rules.packed $(RULES)
	$(RUN) $(BUILD)/pack $(BUILD)/gen/classes.packed $(CLASSES)
	cat $(PHASES) > $(BUILD)/gen/phases.txt
	cat $(PIPELINES) > $(BUILD)/gen/pipelines.txt
	$(CC) -c -I. -I$(BUILD)/gen -o $@ $<

$(BUILD)/gen/events.o: src/source/events.S $(EVENTS) $(BUILD)/pack | $(BUILD)/gen
	$(RUN) $(BUILD)/pack $(BUILD)/gen/events.packed $(EVENTS)
	$(CC) -c -I$(BUILD)/gen -o $@ $<

$(BUILD)/gen/maps.o: src/perfmon/maps.S $(MAPS) | $(BUILD)/gen
	$(CC) -c -I. -o $@ $<

$(BUILD)/gen/models.o: src/trial/models.S $(MODELS) | $(BUILD)/gen
	$(CC) -c -I. -o $@ $<

$(BUILD)/gen/expand.o: src/sweep/expand.S src/sweep/expand.py | $(BUILD)/gen
	$(CC) -c -I. -o $@ $<

# -g: the kernel's BTF is compared with the program's own. Where fields lie is found when it is loaded.
$(BUILD)/gen/tasks.bpf.o: src/iterator/bpf/tasks.c src/iterator/bpf/kernel.h src/source/task_dump.h Makefile | $(BUILD)/gen
	clang -target bpf -std=gnu17 -O2 -g -ffreestanding -Wall -Wextra $(if $(WERROR),-Werror) -ffile-prefix-map=$(CURDIR)=. -Isrc $(shell $(PKG_CONFIG) --cflags libbpf 2>/dev/null) -c -o $@ $<

$(BUILD)/gen/iterator.o: src/iterator/bpf/embed.S $(BUILD)/gen/tasks.bpf.o
	$(CC) -c -I$(BUILD)/gen -o $@ $<

$(BUILD)/gen:
	@mkdir -p $@

$(BUILD)/obj/%.o: src/%.c Makefile | $(BUILD)/gen
	@mkdir -p $(@D)
	$(call SAY,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -MT $@ -c -o $@ $<

# What a compiler says of the program and the library, without building them: make syntax CC=clang-19 WERROR=1
SYNTAX ?= -fsyntax-only
syntax: | $(BUILD)/gen
	@printf '%s\n' src/main.c src/pack.c $(SRC) | xargs -n 1 -P $(or $(JOBS),2) $(CC) $(CPPFLAGS) $(CFLAGS) $(SYNTAX)

# Everything but main, for the program, the tests and the fuzzers.
$(BUILD)/libsonde-all.a: $(OBJ) $(ASSETS)
	@rm -f $@
	$(AR) rcs $@ $^

# At a fixed address, as a static program is: else the loader writes 12,000 addresses into its tables at every start, which is a
# twentieth of the CPU time until a job begins. PIE=-pie for where every program must be relocatable.
PIE ?= $(if $(SANITIZE)$(RELEASE),,-no-pie)
# A fault in what travels inside the binary stops the build, with the file's own line.
$(BUILD)/sonde: $(BUILD)/obj/main.o $(BUILD)/libsonde-all.a | $(HELPERPROG) $(HELPERDIR)/version
	$(call SAY,LD)
	$(Q)$(CC) $(LDFLAGS) $(if $(RELEASE),-static) $(PIE) -o $@.unchecked $^ $(LDLIBS)
	$(Q)$(RUN) $@.unchecked docs check $(RULES) $(PHASES) $(CLASSES) $(PIPELINES) $(EVENTS) $(MAPS) $(MODELS)
	$(Q)mv $@.unchecked $@

# What a helper is linked with, and how its sources are compiled.
define helper
$(HELPERDIR)/sonde-$1: $(patsubst src/%.c,$(BUILD)/obj/%.o,$(wildcard src/$1/*.c)) $($1.object) $(BUILD)/libsonde-all.a
	@mkdir -p $$(@D)
	$$(call SAY,LD)
	$$(Q)$$(CC) $$(LDFLAGS) $($1.link) -o $$@ $$^ $(if $($1.needs),$(shell $(PKG_CONFIG) $(if $($1.link),--static) --libs $($1.needs))) $($1.private) -ldl $$(LDLIBS)
$(if $($1.needs),$(BUILD)/obj/$1/%.o: CPPFLAGS += $(shell $(PKG_CONFIG) --cflags $($1.needs)))
endef
$(foreach h,$(filter-out $(LEFTOUT),$(HELPERS)),$(eval $(call helper,$h)))

# A program and helpers of different versions do not talk to each other.
$(HELPERDIR)/version: Makefile
	@mkdir -p $(@D)
	@echo $(VERSION) > $@

static: $(BUILD)/sonde-static $(HELPERPROG) $(HELPERDIR)/version
$(BUILD)/sonde-static: $(BUILD)/obj/main.o $(BUILD)/libsonde-all.a
	$(CC) $(LDFLAGS) -static -o $@ $^ $(LDLIBS)

$(BUILD)/start: release/start.c Makefile
	$(call SAY,CC)
	$(Q)$(or $(MUSLCC),$(CC)) -D_GNU_SOURCE $(CFLAGS) $(LDFLAGS) -static -o $@ $<

# The public library: what reads recordings, and the few sources that are sampled in the process; only sonde_* is visible.
LIBSOURCES := cpu cpulist memory storage/disk network core device kept program/spans program/spans_counters program/mpi
LIBOBJ := $(filter $(BUILD)/obj/base/% $(BUILD)/obj/core/% $(BUILD)/obj/recording/% $(BUILD)/obj/lib/% \
            $(LIBSOURCES:%=$(BUILD)/obj/source/%.o),$(OBJ))
$(BUILD)/libsonde.a: $(LIBOBJ)
	@rm -f $@
	$(CROSS)ld -r -o $(BUILD)/libsonde.o $^
	$(CROSS)objcopy --localize-hidden $(BUILD)/libsonde.o
	$(AR) rcs $@ $(BUILD)/libsonde.o
# It stays in memory when it is unloaded: threads that made spans return to it when they end.
LIBLINK := -lzstd -lm
ifneq ($(RELEASE),)
# For any Python or C program: of glibc from 2.17, or, with musl's compiler, of musl from 1.2.
LIBLINK  := $(ZSTD) -Wl,--exclude-libs,ALL -nodefaultlibs -L$(BUILD)/oldlibc $(if $(findstring musl,$(CC)),-lc,-lm -lpthread -lc -l:libc_nonshared.a -Wl$(,)--as-needed -lloader) -lgcc
LIBOTHER := $(BUILD)/lacking.o
# What is in no library is in nobody's stacks: it needs no tables for unwinding.
$(filter-out $(LIBOBJ),$(OBJ)) $(BUILD)/obj/main.o: CFLAGS += -fno-asynchronous-unwind-tables
$(COLD): CFLAGS += -Os
$(BUILD)/lacking.o: release/lacking.c $(BUILD)/oldlibc/libc.so Makefile
	$(call SAY,CC)
	$(Q)$(CC) $(CPPFLAGS) -DSONDE_LACKING $(CFLAGS) -fno-builtin -Wno-missing-prototypes -c -o $@ $<
$(BUILD)/oldlibc/libc.so: release/oldlibc.py
	python3 $< "$(CC)" $(@D)
endif
$(BUILD)/libsonde.so.0: $(LIBOBJ) $(LIBOTHER)
	$(CC) $(LDFLAGS) -shared -Wl,-soname,libsonde.so.0 -Wl,-z,defs,-z,nodelete -pthread -o $@ $^ $(LIBLINK)

# What `run --annotations` loads into the job's programs: libc is all that it needs, and a program's own libsonde is not its.
INJECTOBJ := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(wildcard src/inject/*.c)) $(addprefix $(BUILD)/obj/,lib/span.o lib/span_args.o lib/span_make.o base/files.o base/clock.o)
INJECTLINK := $(if $(RELEASE),$(filter-out $(ZSTD),$(subst -lc ,-ldl -lc ,$(LIBLINK))),-ldl)
$(INJECT): $(INJECTOBJ) $(LIBOTHER) src/inject/exported.map
	@mkdir -p $(@D)
	$(call SAY,LD)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libsonde_inject.so -Wl,-z,defs,-z,nodelete -Wl,--version-script,src/inject/exported.map -pthread -o $@ $(INJECTOBJ) $(LIBOTHER) $(INJECTLINK)

# Man pages and completions come from the option tables.
$(BUILD)/docs.stamp: $(BUILD)/sonde
	@mkdir -p $(BUILD)/man $(BUILD)/completions
	$(RUN) $(BUILD)/sonde docs man $(BUILD)/man
	$(RUN) $(BUILD)/sonde docs completions $(BUILD)/completions
	@touch $@
# Those of the library come from its headers.
HEADERS := include/sonde.h include/sonde_sampler.h include/sonde_span.h
CPPHEADERS := include/sonde_span.hpp include/sonde_span.f90 include/sonde_stub.h
$(BUILD)/library.stamp: src/lib/man.awk $(HEADERS)
	@mkdir -p $(BUILD)/man
	awk -v version=$(VERSION) -v out=$(BUILD)/man -f $< $(HEADERS)
	@touch $@

# Stand-ins for libraries that are loaded while running.
STUBS := $(patsubst tests/stubs/%.c,$(BUILD)/stubs/%.so,$(wildcard tests/stubs/*.c))
$(BUILD)/stubs/%.so: tests/stubs/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default $(LDFLAGS) -shared -MMD -MP -MT $@ -MF $(@:.so=.d) -o $@ $<

# Tests, fuzzers and benches: one file, one program.
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))
unit: $(UNIT)
$(UNIT): | $(HELPERPROG) $(STUBS)
$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libsonde-all.a | $(BUILD)/nodes.stamp
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(OPT_TESTS) $(LDFLAGS) -MMD -MP -MT $@ -o $@ $< $(BUILD)/libsonde-all.a -lcmocka -ljansson $(LDLIBS)

# /proc and /sys of whole machines, too many small files to keep.
nodes: $(BUILD)/nodes.stamp
$(BUILD)/nodes.stamp: $(wildcard tests/nodes/*.py)
	@mkdir -p $(@D)
	PYTHONDONTWRITEBYTECODE=1 python3 tests/nodes/make.py $(BUILD)/nodes
	@touch $@

tested: all nodes programs bench-programs examples

FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz: $(FUZZ)
$(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/libsonde-all.a
	@mkdir -p $(@D)
	clang $(CPPFLAGS) $(CFLAGS) $(OPT_TESTS) -fsanitize=fuzzer $(LDFLAGS) -MMD -MP -MT $@ -o $@ $< $(BUILD)/libsonde-all.a -ljansson $(LDLIBS)

# Of parts of the helper that reads the job's programs.
UNWOUND := $(patsubst %,$(BUILD)/obj/unwind/%.o,blocked debug frame gate interpreted messages module names profile punycode python python_code python_layout records rust scopes space symbols touch watch watch_place work)
UNWINDING := $(BUILD)/fuzz/fuzz_unwind $(BUILD)/fuzz/fuzz_blocked $(BUILD)/fuzz/fuzz_symbols $(BUILD)/unit/test_unwind $(BUILD)/unit/test_spaces $(BUILD)/unit/test_touch $(BUILD)/unit/test_gate $(BUILD)/unit/test_blocked $(BUILD)/unit/test_python $(BUILD)/unit/test_rust
$(UNWINDING): $(UNWOUND)
$(UNWINDING): private LDLIBS := $(UNWOUND) $(BUILD)/libsonde-all.a $(LDLIBS) $(unwind.needs:lib%=-l%) $(unwind.private)
$(BUILD)/unit/test_unwind: private CPPFLAGS += $(if $(DEMANGLE),-DUNWIND_DEMANGLE)

# Of the helper that traces system calls.
TRACED  := $(patsubst %,$(BUILD)/obj/files/%.o,book calls inodes names records tracing)
TRACING := $(BUILD)/fuzz/fuzz_files_records $(BUILD)/unit/test_files
$(TRACING): $(TRACED)
$(TRACING): private LDLIBS := $(TRACED) $(BUILD)/libsonde-all.a $(LDLIBS)

BENCH := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))
PROGS := $(patsubst tests/programs/%.c,$(BUILD)/programs/%,$(wildcard tests/programs/*.c))
programs: $(STUBS)
bench: $(BUILD)/sonde bench-programs
	BUILD=$(BUILD) bench/run.sh $(BENCHES)
bench-programs: $(BENCH) $(PROGS)
$(BUILD)/bench/codec_speed: LDLIBS += -lz
programs: $(PROGS)
$(BUILD)/bench/%: bench/%.c $(BUILD)/libsonde-all.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -MT $@ -o $@ $< $(BUILD)/libsonde-all.a $(LDLIBS)
$(BUILD)/programs/%: tests/programs/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -MT $@ -o $@ $< $(filter %.a,$^) $(PROGRAMLIBS) -lm
# Those that are made of Sonde's own parts.
OWNPARTS := $(patsubst %,$(BUILD)/programs/%,random_table change_rates compare_rates statistics growing_nodes traced_nodes stacked_run blamed_run waited_run stepped_run)
$(OWNPARTS): $(BUILD)/libsonde-all.a
$(OWNPARTS): PROGRAMLIBS = $(LDLIBS)
# As distributions build programs: callers are found without frame pointers.
$(BUILD)/programs/memory_parts: CFLAGS += -O2 -g -fomit-frame-pointer
$(BUILD)/programs/known_parts $(BUILD)/programs/crowd $(BUILD)/programs/stack_kinds $(BUILD)/programs/wait_mix: CFLAGS += -O2 -fomit-frame-pointer
$(BUILD)/programs/known_parts: PROGRAMLIBS = -lz
$(BUILD)/programs/stack_kinds: PROGRAMLIBS = -ldl -pthread
$(BUILD)/programs/crowd $(BUILD)/programs/odd_stack $(BUILD)/programs/stuck $(BUILD)/programs/wait_mix: PROGRAMLIBS = -pthread
# And those that use the library as others do.
$(BUILD)/programs/spanner: $(BUILD)/libsonde.a include/sonde_span.h
$(BUILD)/programs/spanner: PROGRAMLIBS = $(LDLIBS) -pthread

# The document is replaced whatever came out, and then a bound that was not held fails.
accuracy: $(BUILD)/sonde programs
	$(Q)SONDE=$(abspath $(BUILD)/sonde) PROGRAMS=$(abspath $(BUILD)/programs) python3 bench/accuracy.py >$(BUILD)/accuracy.md; \
		status=$$?; mv $(BUILD)/accuracy.md docs/accuracy.md; exit $$status

# sacct and Sonde on the same jobs, in docs/batch.md; as root, with slurmdbd and MariaDB.
accounts: $(BUILD)/sonde programs
	$(Q)cd $$(mktemp -d) && TOP=$(CURDIR) BUILD=$(abspath $(BUILD)) SONDE=$(abspath $(BUILD)/sonde) PROGRAMS=$(abspath $(BUILD)/programs) PYTHON=/usr/bin/python3 \
		LC_ALL=C.UTF-8 bash $(CURDIR)/tests/cluster/harness/table.sh

# JUDGE="--busy --half all" hands options on: tests/causes/judge.py --help.
causes: $(BUILD)/sonde
	$(Q)SONDE=$(abspath $(BUILD)/sonde) BUILD=$(abspath $(BUILD)) python3 tests/causes/judge.py $(JUDGE)

EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
examples: $(EXAMPLES)
$(BUILD)/examples/%: examples/%.c $(BUILD)/libsonde.a $(wildcard include/*.h)
	@mkdir -p $(@D)
	$(CC) -Iinclude -std=gnu17 $(OPT) $(WARN) $(SANFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libsonde.a $(LDLIBS) -pthread

FILL = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|'
install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(libexecdir) $(DESTDIR)$(includedir) \
		$(DESTDIR)$(datadir)/man/man1 $(DESTDIR)$(datadir)/man/man3 $(DESTDIR)$(datadir)/sonde/rules $(DESTDIR)$(datadir)/sonde/phases $(DESTDIR)$(datadir)/sonde/classes $(DESTDIR)$(datadir)/sonde/pipelines \
		$(DESTDIR)$(datadir)/sonde/events $(DESTDIR)$(datadir)/sonde/maps $(DESTDIR)$(datadir)/sonde/models \
		$(DESTDIR)$(datadir)/sonde/modulefiles/lua/sonde $(DESTDIR)$(datadir)/sonde/modulefiles/tcl/sonde \
		$(DESTDIR)$(datadir)/sonde/slurm $(DESTDIR)$(datadir)/bash-completion/completions \
		$(DESTDIR)$(datadir)/zsh/site-functions $(DESTDIR)$(datadir)/fish/vendor_completions.d
	install -m 755 $(BUILD)/sonde $(DESTDIR)$(bindir)/sonde
	ln -sf sonde $(DESTDIR)$(bindir)/perfmon
	install -m 755 $(HELPERPROG) $(INJECT) $(DESTDIR)$(libexecdir)
	install -m 644 $(HELPERDIR)/version $(DESTDIR)$(libexecdir)
	install -m 644 $(BUILD)/libsonde.a $(DESTDIR)$(libdir)/libsonde.a
	install -m 755 $(BUILD)/libsonde.so.0 $(DESTDIR)$(libdir)/libsonde.so.0
	ln -sf libsonde.so.0 $(DESTDIR)$(libdir)/libsonde.so
	install -m 644 $(HEADERS) $(CPPHEADERS) $(DESTDIR)$(includedir)/
	$(FILL) src/lib/sonde.pc.in > $(DESTDIR)$(libdir)/pkgconfig/sonde.pc
	$(FILL) examples/modules/sonde.lua.in > $(DESTDIR)$(datadir)/sonde/modulefiles/lua/sonde/$(VERSION).lua
	$(FILL) examples/modules/sonde.tcl.in > $(DESTDIR)$(datadir)/sonde/modulefiles/tcl/sonde/$(VERSION)
	install -m 644 $(BUILD)/man/*.1 $(DESTDIR)$(datadir)/man/man1/
	install -m 644 $(BUILD)/man/*.3 $(DESTDIR)$(datadir)/man/man3/
	ln -sf sonde-perfmon.1 $(DESTDIR)$(datadir)/man/man1/perfmon.1
	install -m 644 rules/*.rules $(DESTDIR)$(datadir)/sonde/rules/
	install -m 644 phases/*.phases $(DESTDIR)$(datadir)/sonde/phases/
	install -m 644 classes/*.classes $(DESTDIR)$(datadir)/sonde/classes/
	install -m 644 pipelines/*.pipelines $(DESTDIR)$(datadir)/sonde/pipelines/
	install -m 644 events/*.events $(DESTDIR)$(datadir)/sonde/events/
	install -m 644 maps/*.map $(DESTDIR)$(datadir)/sonde/maps/
	install -m 644 models/*.model $(DESTDIR)$(datadir)/sonde/models/
	install -m 755 site/slurm/prolog site/slurm/epilog site/slurm/beside site/slurm/after $(DESTDIR)$(datadir)/sonde/slurm/
	install -m 644 site/slurm/site.sh site/slurm/site.conf site/slurm/spank_sonde.c $(DESTDIR)$(datadir)/sonde/slurm/
	install -m 644 $(BUILD)/completions/sonde.bash $(DESTDIR)$(datadir)/bash-completion/completions/sonde
	ln -sf sonde $(DESTDIR)$(datadir)/bash-completion/completions/perfmon
	install -m 644 $(BUILD)/completions/_sonde $(DESTDIR)$(datadir)/zsh/site-functions/_sonde
	install -m 644 $(BUILD)/completions/sonde.fish $(DESTDIR)$(datadir)/fish/vendor_completions.d/sonde.fish
	ln -sf sonde.fish $(DESTDIR)$(datadir)/fish/vendor_completions.d/perfmon.fish

clean:
	rm -rf $(BUILD)

.PHONY: accounts all help static syntax tested unit nodes fuzz accuracy causes bench bench-programs programs examples install clean
.SECONDARY:
-include $(OBJ:.o=.d) $(HELPEROBJ:.o=.d) $(STUBS:.so=.d) $(BUILD)/obj/main.d $(BUILD)/obj/pack.d $(UNIT:=.d) $(FUZZ:=.d) $(BENCH:=.d) $(PROGS:=.d)
