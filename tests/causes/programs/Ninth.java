// SPDX-License-Identifier: Apache-2.0
// Nearly all of the heap is in use while a cheap job makes garbage: Ninth ENTRIES ROUNDS.
import java.util.HashMap;
import java.util.Map;

public class Ninth {
	public static void main(String[] args) {
		int entries = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
		Map<Integer, String> kept = new HashMap<>();
		for (int i = 0; i < entries; i++)
			kept.put(i, "entry number " + i);
		long length = 0;
		for (int round = 0; round < rounds; round++)
			for (int i = 0; i < 20000; i++) {
				String made = "round " + round + " of " + i;
				kept.put((round * 7919 + i * 31) % entries, made);
				length += made.length();
			}
		System.out.println(length);
	}
}
