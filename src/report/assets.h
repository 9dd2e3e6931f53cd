/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.h - files that travel inside the program: the report page's and the built-in rules.
 *
 * Each is asset_X up to (not including) asset_X_end; no NUL ends it. assets.S says which file is
 * which. All but PLAIN ones are packed (base/packed.h).
 */
#ifndef SONDE_REPORT_ASSETS_H
#define SONDE_REPORT_ASSETS_H

#define ASSET(name) extern const char asset_##name[], asset_##name##_end[]
#define PLAIN       ASSET

PLAIN(page_html);
ASSET(page_css);
ASSET(dark_css);
ASSET(element_js);
ASSET(format_js);
ASSET(charts_js);
ASSET(lanes_js);
ASSET(heat_js);
ASSET(code_js);
ASSET(tables_js);
ASSET(page_js);
ASSET(live_js);
PLAIN(bench_html);
ASSET(bench_css);
ASSET(bench_js);
PLAIN(login_html);
ASSET(uplot_js);
ASSET(uplot_css);
ASSET(uplot_licence);
ASSET(rules);     /* all of rules/, one behind the other */
PLAIN(phases);    /* all of phases/, likewise */
ASSET(classes);   /* all of classes/, likewise */
PLAIN(pipelines); /* all of pipelines/, likewise */

#undef PLAIN
#undef ASSET

#endif
