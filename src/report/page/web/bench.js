/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark page is whole without a script; with it, its table sorts and filters. */
'use strict';

for (const table of document.querySelectorAll('table.sortable')) sortable(table);
document.documentElement.dataset.ready = 'true';
