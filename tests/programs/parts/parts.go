// SPDX-License-Identifier: Apache-2.0

// Five kinds of work in rounds of different length, SECONDS of CPU time in all, each measured with the thread's own clock. Prints the seconds of each.
package main

import (
	"bytes"
	"compress/flate"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"syscall"
	"unsafe"
)

const clockThread = 3

var (
	numbers = make([]int, 1<<16)
	text    = make([]byte, 1<<18)
	from    = make([]byte, 1<<20)
	to      = make([]byte, 1<<20)
	out     bytes.Buffer
	packer  *flate.Writer // made once: the kernel's time for its memory is in no sample
	names   = map[int]int{}
	sink    uint32
)

func cpu() float64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThread, uintptr(unsafe.Pointer(&t)), 0)
	return float64(t.Sec) + float64(t.Nsec)*1e-9
}

//go:noinline
func partSort() {
	for i := range numbers {
		numbers[i] = int(uint32(i) * 2654435761)
	}
	sort.Ints(numbers)
}

//go:noinline
func partDeflate() {
	out.Reset()
	packer.Reset(&out)
	packer.Write(text)
	packer.Close()
}

//go:noinline
func partLoop() {
	x := sink
	for i := 0; i < 12000000; i++ {
		x = x*1664525 + 1013904223
	}
	sink = x
}

//go:noinline
func partCopy() {
	for i := 0; i < 200; i++ {
		copy(to[i:], from)
	}
}

//go:noinline
func partMap() {
	for i := 0; i < 500000; i++ {
		names[int(uint32(i)*2654435761%4096)] += i
	}
}

func main() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	packer, _ = flate.NewWriter(&out, 6)
	for i := range text {
		text[i] = byte(i * i >> 7 & 63)
	}
	wanted, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		os.Exit(2)
	}
	parts := []struct {
		name string
		run  func()
	}{{"partSort", partSort}, {"partDeflate", partDeflate}, {"partLoop", partLoop}, {"partCopy", partCopy}, {"partMap", partMap}}
	seconds := make([]float64, len(parts))
	end := cpu() + wanted
	for round := 1; cpu() < end; round++ {
		for i, part := range parts {
			begin := cpu()
			for k := 0; k < 1+round%7; k++ {
				part.run()
			}
			seconds[i] += cpu() - begin
		}
	}
	for i, part := range parts {
		fmt.Printf("%s %.6f\n", part.name, seconds[i])
	}
}
