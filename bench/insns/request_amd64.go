package main

// request asks callgrind for something. arg is a C string or nil.
//
//go:noescape
func request(code uint64, arg *byte)

// Callgrind's requests, numbered as in its header callgrind.h.
const (
	toggleCollect = 'C'<<24 | 'T'<<16 + 2
	dumpStatsAt   = 'C'<<24 | 'T'<<16 + 3
	startTool     = 'C'<<24 | 'T'<<16 + 4
)

// canAsk is whether request is there for this processor.
const canAsk = true

// toggle starts or stops counting the instructions of this thread.
func toggle() { request(toggleCollect, nil) }

// start makes callgrind able to count. Until then the program runs faster.
func start() { request(startTool, nil) }

// dump writes the count to a file of its own, which contains name, and sets the count to 0.
func dump(name string) {
	text := append([]byte(name), 0)
	request(dumpStatsAt, &text[0])
}
