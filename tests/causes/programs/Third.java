// SPDX-License-Identifier: Apache-2.0
// Jobs of third.py: Third VERB ARGUMENT...
import java.util.ArrayList;
import java.util.List;

public class Third {
	static double work(double seconds) {
		double x = 1;
		for (long end = System.nanoTime() + (long)(seconds * 1e9); System.nanoTime() < end;)
			for (int i = 0; i < 1000; i++)
				x = Math.sin(x) + 1;
		return x;
	}

	static int depth(int n) {
		return depth(n + 1) + 1;
	}

	public static void main(String[] words) throws Exception {
		double seconds = Double.parseDouble(words[1]);
		long end = System.nanoTime() + (long)(seconds * 1e9);
		if (words[0].equals("deep")) {
			work(seconds);
			System.out.println(depth(0));
		} else if (words[0].equals("threads")) { // a thread for each item
			while (System.nanoTime() < end) {
				Thread t = new Thread(() -> Math.sin(1));
				t.start();
				t.join();
			}
		} else if (words[0].equals("synchronized")) { // all threads want one monitor for all that they do
			List<Thread> all = new ArrayList<>();
			Object one = new Object();
			for (int i = 0; i < 6; i++)
				all.add(new Thread(() -> {
					while (System.nanoTime() < end)
						synchronized (one) {
							work(0.002);
						}
				}));
			for (Thread t : all)
				t.start();
			for (Thread t : all)
				t.join();
		} else { // as many threads as processors
			List<Thread> all = new ArrayList<>();
			for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++)
				all.add(new Thread(() -> work(seconds)));
			for (Thread t : all)
				t.start();
			for (Thread t : all)
				t.join();
		}
	}
}
