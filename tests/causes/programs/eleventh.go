// SPDX-License-Identifier: Apache-2.0
// Jobs of the eleventh set of causes in Go, for judge.py.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"sync"
)

// words counts with many goroutines in one map behind one lock, which is held for the whole piece.
func words(pieces int) {
	var lock sync.Mutex
	var all sync.WaitGroup
	count := map[string]int{}
	for w := 0; w < 8; w++ {
		all.Add(1)
		go func(r *rand.Rand) {
			defer all.Done()
			for i := 0; i < pieces; i++ {
				lock.Lock()
				for k := 0; k < 2000; k++ {
					count["word"+strconv.Itoa(r.Intn(50000))]++
				}
				lock.Unlock()
			}
		}(rand.New(rand.NewSource(int64(w))))
	}
	all.Wait()
	fmt.Println(len(count))
}

// parts sorts parts of a slice, two at a time.
func parts(n int) {
	var all sync.WaitGroup
	next := make(chan int)
	for w := 0; w < 2; w++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for seed := range next {
				r := rand.New(rand.NewSource(int64(seed)))
				part := make([]float64, 400000)
				for i := range part {
					part[i] = r.Float64()
				}
				sort.Float64s(part)
			}
		}()
	}
	for i := 0; i < n; i++ {
		next <- i
	}
	close(next)
	all.Wait()
}

func main() {
	n, _ := strconv.Atoi(os.Args[2])
	if os.Args[1] == "words" {
		words(n)
	} else {
		parts(n)
	}
}
