// SPDX-License-Identifier: Apache-2.0
// Jobs of kept.py: Unseen VERB ARGUMENT...
import java.util.stream.LongStream;

class Unseen {
    /** Keeps most of the heap alive and replaces parts of it. */
    static void replace(int megabytes, int seconds) {
        byte[][] kept = new byte[megabytes * 8][];
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        for (int i = 0; System.nanoTime() < end; i = (i + 7919) % kept.length) {
            kept[i] = new byte[128 << 10];
        }
    }

    static void streams(int seconds) {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        double sum = 0;
        while (System.nanoTime() < end) {
            sum += LongStream.range(0, 20_000_000).parallel().mapToDouble(i -> Math.sqrt(i) % 7).sum();
        }
        System.out.println(sum);
    }

    public static void main(String[] a) {
        if (a[0].equals("replace")) {
            replace(Integer.parseInt(a[1]), Integer.parseInt(a[2]));
        } else {
            streams(Integer.parseInt(a[1]));
        }
    }
}
