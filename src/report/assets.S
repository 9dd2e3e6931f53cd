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
	asset page_css, "web/page.css"
	asset dark_css, "web/dark.css"
	asset element_js, "web/element.js"
	asset format_js, "web/format.js"
	asset charts_js, "web/charts.js"
	asset lanes_js, "web/lanes.js"
	asset heat_js, "web/heat.js"
	asset code_js, "web/code.js"
	asset tables_js, "web/tables.js"
	asset page_js, "web/page.js"
	asset live_js, "web/live.js"
	asset bench_html, "src/report/page/web/bench.html"
	asset bench_css, "web/bench.css"
	asset bench_js, "web/bench.js"
	asset login_html, "src/report/page/web/login.html"
	asset uplot_js, "uplot.js"
	asset uplot_css, "uplot.css"
	asset uplot_licence, "uplot.licence"
	asset rules, "rules.txt"
	asset phases, "phases.txt"
	asset classes, "classes.txt"
	asset pipelines, "pipelines.txt"

	.section .note.GNU-stack, "", %progbits
