/* SPDX-License-Identifier: Apache-2.0 */
/* Assembled from the root of the source tree: paths are relative to it. */

.macro asset name, path
	.globl asset_\name
	.hidden asset_\name
	.globl asset_\name\()_end
	.hidden asset_\name\()_end
asset_\name:
	.incbin "\path"
asset_\name\()_end:
.endm

	.section .rodata
	asset page_html, "src/report/page/web/page.html"
	asset page_css, "web/page.css.packed"
	asset dark_css, "web/dark.css.packed"
	asset element_js, "web/element.js.packed"
	asset format_js, "web/format.js.packed"
	asset charts_js, "web/charts.js.packed"
	asset lanes_js, "web/lanes.js.packed"
	asset heat_js, "web/heat.js.packed"
	asset code_js, "web/code.js.packed"
	asset tables_js, "web/tables.js.packed"
	asset page_js, "web/page.js.packed"
	asset live_js, "web/live.js.packed"
	asset bench_html, "src/report/page/web/bench.html"
	asset bench_css, "web/bench.css.packed"
	asset bench_js, "web/bench.js.packed"
	asset login_html, "src/report/page/web/login.html"
	asset uplot_js, "web/uplot.js.packed"
	asset uplot_css, "web/uplot.css.packed"
	asset uplot_licence, "web/uplot.licence.packed"
	asset rules, "rules.packed"
	asset phases, "phases.txt"
	asset classes, "classes.packed"
	asset pipelines, "pipelines.txt"

	.section .note.GNU-stack, "", %progbits
