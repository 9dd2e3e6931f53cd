/* SPDX-License-Identifier: Apache-2.0 */
/* Elements, made of their attributes and children: text stays text. */
'use strict';

function element(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes || {})) {
		if (key in e && key !== 'list') e[key] = value;
		else e.setAttribute(key, value);
	}
	e.append(...children);
	return e;
}
