/* SPDX-License-Identifier: Apache-2.0 */
/* The models that travel in the program. Assembled from the root of the source tree. */

	.section .rodata
	.globl asset_sonde_model
	.hidden asset_sonde_model
	.globl asset_sonde_model_end
	.hidden asset_sonde_model_end
asset_sonde_model:
	.incbin "models/sonde.model"
asset_sonde_model_end:

	.globl asset_thoth_model
	.hidden asset_thoth_model
	.globl asset_thoth_model_end
	.hidden asset_thoth_model_end
asset_thoth_model:
	.incbin "models/thoth.model"
asset_thoth_model_end:

	.globl asset_suites_model
	.hidden asset_suites_model
	.globl asset_suites_model_end
	.hidden asset_suites_model_end
asset_suites_model:
	.incbin "models/suites.model"
asset_suites_model_end:

	.section .note.GNU-stack, "", %progbits
