// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;

/** Memory of a Java job: "thrash SECONDS MB" keeps the heap nearly full, "exhaust" keeps all. */
public class Churn {
	public static void main(String[] args) {
		long end = System.nanoTime() + (long)(Double.parseDouble(args[1]) * 1e9);
		if (args[0].equals("exhaust")) {
			var kept = new ArrayList<long[]>();
			while (true) {
				kept.add(new long[1 << 15]);
				for (long until = System.nanoTime() + 40_000_000; System.nanoTime() < until;)
					;
			}
		}
		int count = Integer.parseInt(args[2]) * (1 << 20) / 160;
		Map<Integer, byte[]> kept = new HashMap<>();
		for (int i = 0; i < count; i++)
			kept.put(i, new byte[64]);
		int at = 0;
		while (System.nanoTime() < end) {
			kept.put(at, new byte[64]);
			at = (at + 7919) % count;
		}
		System.out.println(kept.size());
	}
}
