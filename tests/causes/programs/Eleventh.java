// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Jobs of the eleventh set of causes in Java, for judge.py. */
public class Eleventh {
	/** Keeps every row it was ever asked for. */
	static void rows(int n) {
		Map<Integer, List<String>> kept = new HashMap<>();
		for (int i = 0; i < n; i++) {
			List<String> row = new ArrayList<>();
			for (int k = 0; k < 10; k++)
				row.add("value " + i + " of column " + k);
			kept.put(i, row);
		}
		System.out.println(kept.size());
	}

	static long steps(long of) {
		long steps = 0;
		for (; of != 1; steps++)
			of = of % 2 == 0 ? of / 2 : 3 * of + 1;
		return steps;
	}

	public static void main(String[] words) {
		int n = Integer.parseInt(words[1]);
		if (words[0].equals("rows"))
			rows(n);
		else
			System.out.println(IntStream.range(1, n).parallel().mapToLong(Eleventh::steps).max().getAsLong());
	}
}
