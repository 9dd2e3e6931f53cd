// SPDX-License-Identifier: Apache-2.0
// Works for some seconds, then keeps memory until the heap is full.
import java.util.ArrayList;
import java.util.List;

public class Fill {
	public static void main(String[] words) throws InterruptedException {
		long end = System.nanoTime() + (long) (Double.parseDouble(words[0]) * 1e9);
		List<byte[]> kept = new ArrayList<>();
		double x = 0;

		while (System.nanoTime() < end)
			x = Math.sin(x) + 1;
		while (x >= 0) {
			kept.add(new byte[1 << 20]);
			Thread.sleep(10);
		}
	}
}
