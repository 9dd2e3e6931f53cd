# SPDX-License-Identifier: Apache-2.0
"""The peers of bench/sampler.sh: a thread within a Python program that samples the node, and nothing else runs. sampler_arm.py psutil|sonde
INTERVAL SAMPLES prints the CPU seconds of one sample, the mean over SAMPLES. psutil: what lightgbm-benchmark's sampler reads, whose reading of
the CPUs takes the interval. sonde: the Python package, which finds libsonde by SONDE_LIBRARY. The first sample is left out."""
import sys
import threading
import time


def psutil_sample(samples, interval):
    import psutil
    cpus = psutil.cpu_percent(interval=interval, percpu=True)
    disk, networks = psutil.disk_io_counters(perdisk=False), psutil.net_io_counters(pernic=True)
    loopback = {name for name in networks if name == "lo" or "loopback" in name.lower()}
    samples.append({
        "cpu_pct_per_cpu_avg": sum(cpus) / len(cpus), "cpu_pct_per_cpu_min": min(cpus), "cpu_pct_per_cpu_max": max(cpus),
        "mem_percent": psutil.virtual_memory().percent, "disk_usage_percent": psutil.disk_usage("/").percent,
        "disk_io_read_mb": disk.read_bytes / 1048576, "disk_io_write_mb": disk.write_bytes / 1048576,
        "net_io_lo_sent_mb": sum(networks[n].bytes_sent for n in loopback) / 1048576,
        "net_io_ext_sent_mb": sum(n.bytes_sent for name, n in networks.items() if name not in loopback) / 1048576,
        "net_io_lo_recv_mb": sum(networks[n].bytes_recv for n in loopback) / 1048576,
        "net_io_ext_recv_mb": sum(n.bytes_recv for name, n in networks.items() if name not in loopback) / 1048576,
        "timestamp": time.time()})


def run_psutil(interval, wanted):
    samples = []
    psutil_sample(samples, interval)
    before = time.process_time()
    thread = threading.Thread(target=lambda: [psutil_sample(samples, interval) for _ in range(wanted)])
    thread.start()
    thread.join()
    return (time.process_time() - before) / wanted


def run_sonde(interval, wanted):
    import sonde
    with sonde.Sampler(interval=interval) as s:
        while not s.taken:
            time.sleep(0.001)
        before, first = time.process_time(), s.taken
        time.sleep(interval * wanted)
        return (time.process_time() - before) / (s.taken - first)


def main():
    which, interval, wanted = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    print(f"{(run_psutil if which == 'psutil' else run_sonde)(interval, wanted):.9f}")


main()
