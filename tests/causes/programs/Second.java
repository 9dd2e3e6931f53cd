// SPDX-License-Identifier: Apache-2.0
// Jobs of second.py that want Java; java runs this file as it is.
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

class Second {
	// A cache of answers from which nothing is ever removed.
	static void remember() throws InterruptedException {
		List<byte[]> answers = new ArrayList<>();
		for (;;) {
			answers.add(new byte[1 << 20]);
			Thread.sleep(60);
		}
	}

	// Primes counted on all cores.
	static long primes(long most) {
		return LongStream.rangeClosed(2, most).parallel().filter(n -> LongStream.rangeClosed(2, (long) Math.sqrt(n)).noneMatch(d -> n % d == 0)).count();
	}

	public static void main(String[] args) throws InterruptedException {
		if (args[0].equals("remember"))
			remember();
		long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
		long found = 0;
		while (System.nanoTime() < end)
			found = primes(200_000);
		System.out.println(found);
	}
}
