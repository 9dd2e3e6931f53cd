// SPDX-License-Identifier: Apache-2.0
// Goroutines that compute.
package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	end := time.Now().Add(time.Duration(seconds * 1e9))
	var all sync.WaitGroup
	for i := 0; i < count; i++ {
		all.Add(1)
		go func(x uint64) {
			defer all.Done()
			for time.Now().Before(end) {
				for k := 0; k < 20000; k++ {
					x = x*6364136223846793005 + 1
				}
			}
			if x == 0 {
				println(x)
			}
		}(uint64(i))
	}
	all.Wait()
}
