# SPDX-License-Identifier: Apache-2.0
# Jobs of fourth.py. chain: each part needs the one before; parts: none needs another; link: a symbol that no library has.
PARTS := 1 2 3 4 5 6

chain: c6
c1:
	perl $(SRC)/fourth.pl work $(SECONDS)
$(foreach n,2 3 4 5 6,$(eval c$(n): c$(shell expr $(n) - 1); perl $(SRC)/fourth.pl work $(SECONDS)))

parts: $(PARTS:%=p%)
p%:
	python3 $(SRC)/fourth.py work $(SECONDS)

link:
	perl $(SRC)/fourth.pl work $(SECONDS)
	printf 'void dgemm_(void);\nint main(void) { dgemm_(); return 0; }\n' >link.c
	cc link.c -o solver

.PHONY: chain parts link
