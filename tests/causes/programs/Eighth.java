// SPDX-License-Identifier: Apache-2.0
// Even pieces on the common pool, and the caller waits for them all.
import java.util.concurrent.*;

public class Eighth {
    static long piece(double end) {
        long x = 1;
        while (System.nanoTime() < end)
            for (int i = 0; i < 1000000; i++)
                x = x * 6364136223846793005L + (x >> 29);
        return x;
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        double end = System.nanoTime() + 1e9 * Double.parseDouble(args[1]);
        ExecutorService pool = Executors.newFixedThreadPool(n);
        CompletableFuture<?>[] all = new CompletableFuture<?>[n];
        for (int i = 0; i < n; i++)
            all[i] = CompletableFuture.supplyAsync(() -> piece(end), pool);
        CompletableFuture.allOf(all).join();
        pool.shutdown();
    }
}
