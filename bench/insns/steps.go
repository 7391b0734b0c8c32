package main

import (
	"fmt"
	"runtime"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/ours"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// warmUps is how often each step of a workload is taken before it is counted. Building has to be
// taken as often as its messages fit into a slab, several times; all together takes a minute.
var warmUps = map[string]int{"B": 500, "C1K": 200, "C20K": 30, "E": 3, "F": 2, "W": 2}

// takeSteps takes all steps, and has the count of each dumped. It is run under callgrind.
func takeSteps() error {
	runtime.LockOSThread() // toggle is about the thread that calls it
	start()
	left := len(warmUps)
	for _, w := range data.All() {
		if n := warmUps[w.Name]; n > 0 {
			takeStepsOf(w, n)
			left--
		}
	}
	if left > 0 {
		return fmt.Errorf("%d workloads are not there any more", left)
	}
	return nil
}

// takeStepsOf takes the steps of a workload, each n times uncounted and 2n times counted. It
// returns how many steps there are.
func takeStepsOf(w data.Workload, n int) (steps int) {
	l := ours.LifeOf(w.New())
	s := l.Build()
	wire := s.Message().AppendTo(nil)
	s.Release()
	step := func(name string, round func()) {
		steps++
		for range n {
			round()
		}
		counting = true
		for range 2 * n {
			round()
		}
		counting = false
		dump(fmt.Sprintf("%s/%s %d", w.Name, name, 2*n))
	}
	takeWriting(l, wire, step)
	takeReading(l, wire, step)
	return steps
}

// takeWriting takes the steps that make messages or bytes.
func takeWriting(l ours.Life, wire []byte, step func(name string, round func())) {
	send := func(name string, build func() nocopy.Struct) {
		step(name, func() {
			tick()
			s := build()
			ours.Send(discard{}, s)
			tick()
			s.Release()
		})
	}
	send("build", l.Build)
	if l.Whole != nil {
		send("whole", l.Whole)
	}
	if l.Append != nil {
		kept := l.Append(nil)
		step("append", func() {
			tick()
			kept = l.Append(kept[:0])
			tick()
		})
		step("fields", func() {
			tick()
			if err := l.Fields(wire); err != nil {
				panic(err)
			}
			tick()
		})
	}
}

// takeReading takes the steps on received messages.
func takeReading(l ours.Life, wire []byte, step func(name string, round func())) {
	step("parse", func() {
		tick()
		s := l.Parse(wire)
		tick()
		s.Release()
	})
	step("read", func() {
		s := l.Parse(wire)
		tick()
		sink += l.Read(s)
		tick()
		s.Release()
	})
	if l.Edit != nil {
		step("edit", func() {
			s := l.Parse(wire)
			tick()
			l.Edit(s)
			ours.Send(discard{}, s)
			tick()
			s.Release()
		})
	}
	if l.Peek != nil {
		step("peek", func() {
			tick()
			sink += l.Peek(wire)
			tick()
		})
	}
	step("release", func() {
		s := l.Parse(wire)
		sink += l.Read(s)
		tick()
		s.Release()
		tick()
	})
}

// counting is whether tick has an effect.
var counting bool

// tick begins and ends counting.
func tick() {
	if counting {
		toggle()
	}
}

// sink keeps sums from being optimised away.
var sink uint64

// discard is io.Discard without its ReadFrom: every message hands over its bytes by Write.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
