// SPDX-License-Identifier: Apache-2.0
// Jobs of fourth.py: fourth VERB ARGUMENT...
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

func work(seconds float64) {
	end := time.Now().Add(time.Duration(seconds * 1e9))
	x := 1.0
	for time.Now().Before(end) {
		for i := 0; i < 20000; i++ {
			x = x*1.0000001 + 1e-9
		}
	}
	if x < 0 {
		fmt.Println(x)
	}
}

// As many as that at once, each until the end.
func many(n int, seconds float64) {
	var all sync.WaitGroup
	for i := 0; i < n; i++ {
		all.Add(1)
		go func() { defer all.Done(); work(seconds) }()
	}
	all.Wait()
}

// Eight workers, and a semaphore that lets one in.
func oneAtATime(seconds float64) {
	var all sync.WaitGroup
	gate := make(chan int, 1)
	end := time.Now().Add(time.Duration(seconds * 1e9))
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Now().Before(end) {
				gate <- 1
				work(0.05)
				<-gate
			}
		}()
	}
	all.Wait()
}

// Every answer is kept.
func keeps(seconds float64) {
	var answers [][]byte
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
		work(0.02)
		answer := make([]byte, 1<<20)
		for i := 0; i < len(answer); i += 4096 {
			answer[i] = 1
		}
		answers = append(answers, answer)
	}
	fmt.Println(len(answers))
}

// The log is opened and closed for each line.
func logs(seconds float64) {
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
		f, err := os.OpenFile("steps.log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, "step")
		f.Close()
	}
}

// A feeder and workers with even pieces, over a channel.
func channel(seconds float64) {
	pieces := make(chan float64, 16)
	var all sync.WaitGroup
	for i := 0; i < runtime.NumCPU(); i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for piece := range pieces {
				work(piece)
			}
		}()
	}
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
		pieces <- 0.02
	}
	close(pieces)
	all.Wait()
}

func main() {
	s, _ := strconv.ParseFloat(os.Args[2], 64)
	switch os.Args[1] {
	case "nil":
		var counts map[string]int
		work(s)
		counts["reads"]++
	case "many":
		n, _ := strconv.Atoi(os.Args[3])
		runtime.GOMAXPROCS(n)
		many(n, s)
		if len(os.Args) > 4 {
			var rows []int
			fmt.Println(rows[n])
		}
	case "one":
		oneAtATime(s)
	case "keeps":
		keeps(s)
	case "logs":
		logs(s)
	case "channel":
		channel(s)
	}
}
