// SPDX-License-Identifier: Apache-2.0
// Java: a pool of computing threads, or a heap that fills.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class Jobs {
	static volatile long sink;

	static void compute(double seconds) {
		long end = System.nanoTime() + (long) (seconds * 1e9);
		long x = 1;
		while (System.nanoTime() < end)
			for (int i = 0; i < 20000; i++)
				x = x * 6364136223846793005L + 1;
		sink = x;
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("heap")) {
			List<byte[]> kept = new ArrayList<>();
			compute(Double.parseDouble(args[1]));
			for (;;)
				kept.add(new byte[1 << 20]);
		}
		int threads = Integer.parseInt(args[1]);
		double seconds = Double.parseDouble(args[2]);
		ExecutorService pool = Executors.newFixedThreadPool(threads);
		for (int i = 0; i < threads; i++)
			pool.submit(() -> compute(seconds));
		pool.shutdown();
		pool.awaitTermination(10, TimeUnit.MINUTES);
	}
}
