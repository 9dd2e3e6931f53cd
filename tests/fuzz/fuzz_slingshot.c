/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_fuzz.h"

extern const struct source source_slingshot;

#define CXI "sys/class/cxi/cxi0/device/"

static const char *const paths[] = { CXI "port/speed",
				     CXI "telemetry/hni_sts_rx_ok_octets",
				     CXI "telemetry/hni_sts_tx_ok_octets",
				     CXI "telemetry/hni_rx_paused_0",
				     CXI "telemetry/hni_rx_paused_1",
				     CXI "telemetry/hni_pkts_sent_by_tc_0",
				     CXI "telemetry/hni_pcs_corrected_cw",
				     CXI "telemetry/pct_no_tct_nacks",
				     NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return tree_fuzz(&source_slingshot, paths, data, size);
}
