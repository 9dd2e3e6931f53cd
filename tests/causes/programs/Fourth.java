// SPDX-License-Identifier: Apache-2.0
// Jobs of fourth.py: Fourth VERB ARGUMENT...
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

class Fourth {
	static volatile double sink;

	static void work(double seconds) {
		long end = System.nanoTime() + (long)(seconds * 1e9);
		double x = 1;

		while (System.nanoTime() < end)
			for (int i = 0; i < 20000; i++)
				x = x * 1.0000001 + 1e-9;
		sink = x;
	}

	static class Halves extends RecursiveAction {
		final int from, to;

		Halves(int from, int to) {
			this.from = from;
			this.to = to;
		}

		protected void compute() {
			if (to - from <= 1)
				work(0.1);
			else
				invokeAll(new Halves(from, (from + to) / 2), new Halves((from + to) / 2, to));
		}
	}

	// A collection is asked for after each step, of a heap full of small objects.
	static void collects(double seconds) {
		Object[] kept = new Object[1500000];
		long end = System.nanoTime() + (long)(seconds * 1e9);

		for (int i = 0; i < kept.length; i++)
			kept[i] = new int[4];
		while (System.nanoTime() < end) {
			work(0.005);
			System.gc();
		}
		sink = kept.length;
	}

	static void futures(ExecutorService pool, int n) throws Exception {
		for (int i = 0; i < n; i++)
			pool.submit(() -> work(0.25));
		pool.shutdown();
		pool.awaitTermination(120, TimeUnit.SECONDS);
	}

	public static void main(String[] args) throws Exception {
		double s = Double.parseDouble(args[1]);

		switch (args[0]) {
		case "cell" -> {
			int[] row = new int[12];
			work(s);
			row[(int)(12 + s)] = 1;
		}
		case "class" -> {
			work(s);
			System.out.println(new Helper());
		}
		case "latch" -> {
			work(1);
			new CountDownLatch(1).await();
		}
		case "collects" -> collects(s);
		case "futures" -> futures(Executors.newSingleThreadExecutor(), (int)(4 * s));
		case "stream" -> IntStream.range(0, (int)(8 * s)).parallel().forEach(i -> work(0.125));
		case "prints" -> {
			long end = System.nanoTime() + (long)(s * 1e9);

			for (long i = 0; System.nanoTime() < end; i++)
				System.out.println(i);
		}
		case "halves" -> ForkJoinPool.commonPool().invoke(new Halves(0, (int)(20 * s)));
		default -> System.exit(2);
		}
	}
}

class Helper {
}
