// SPDX-License-Identifier: Apache-2.0
// Jobs of third.py: third VERB SECONDS.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

func work(seconds float64) {
	x := 1.0
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
		for i := 0; i < 10000; i++ {
			x = math.Sin(x) + 1
		}
	}
	if x < 0 {
		fmt.Println(x)
	}
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	if os.Args[1] == "stuck" {
		work(seconds)
		results := make(chan int)
		fmt.Println(<-results) // nobody sends
		return
	}
	var all sync.WaitGroup
	for i := 0; i < runtime.NumCPU(); i++ {
		all.Add(1)
		go func() { work(seconds); all.Done() }()
	}
	all.Wait()
}
