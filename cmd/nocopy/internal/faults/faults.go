// Package faults makes calls go wrong on purpose, as often as flags say: late answers, errors, cut
// connections, and little bandwidth. The commands that serve clients share it.
package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/recording"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// Flags say what goes wrong with which calls.
type Flags struct {
	Delay   time.Duration `help:"Time that each answer is held back." placeholder:"DURATION"`
	Errors  float64       `name:"errors" help:"Share of the calls that get an internal error, from 0 to 1." placeholder:"PART"`
	Cuts    float64       `name:"cuts" help:"Share of the calls whose connection is cut, from 0 to 1." placeholder:"PART"`
	Methods []string      `help:"-delay, -errors and -cuts are for these methods only, such as Store.get,put*." placeholder:"METHOD"`
}

// Check returns an error about values that make no sense.
func (f *Flags) Check() error {
	switch {
	case !(f.Errors >= 0 && f.Errors <= 1 && f.Cuts >= 0 && f.Cuts <= 1):
		return errors.New("-errors and -cuts are from 0 to 1")
	case f.Delay < 0:
		return errors.New("-delay is not negative")
	case len(f.Methods) > 0 && !f.any():
		return errors.New("-methods needs -delay, -errors or -cuts")
	}
	return recording.CheckNames("-methods", f.Methods)
}

func (f *Flags) any() bool { return f.Delay > 0 || f.Errors > 0 || f.Cuts > 0 }

// CheckMethods returns an error about a pattern of -methods that fits no method of the services:
// it would change nothing.
func (f *Flags) CheckMethods(services []dynamic.Service) error {
	for _, pattern := range f.Methods {
		if !slices.ContainsFunc(services, func(s dynamic.Service) bool { return has(s, pattern) }) {
			return fmt.Errorf("-methods %s: the IDL has no such method", pattern)
		}
	}
	return nil
}

// has reports whether a service has a method that a pattern fits. Before a colon, clients may have
// any name for the service.
func has(s dynamic.Service, pattern string) bool {
	pattern = pattern[strings.LastIndexByte(pattern, ':')+1:]
	for m := range s.AllMethods() {
		if recording.Named([]string{pattern}, s.Name()+"."+m.Name()) {
			return true
		}
	}
	return false
}

// A Fault is what goes wrong with a call.
type Fault int

// The faults. A Cut can come before the call is handled or after it, instead of the answer.
const (
	None Fault = iota
	Error
	CutBefore
	CutAfter
)

// An Injector decides which calls go wrong. Any number of goroutines may use it.
type Injector struct {
	flags   Flags
	command string

	mu     sync.Mutex
	chance *rand.Rand
}

// New returns an Injector for a command, such as "mock". A seed of 0 is a new one each time.
func New(f Flags, command string, seed uint64) *Injector {
	if seed == 0 {
		seed = rand.Uint64()
	}
	return &Injector{flags: f, command: command, chance: rand.New(rand.NewPCG(seed, 0))}
}

// selects reports whether a method with these names is one of those that faults are for.
func (i *Injector) selects(names []string) bool {
	return len(i.flags.Methods) == 0 || recording.Named(i.flags.Methods, names...)
}

// Draw returns what goes wrong with a call of a method with these names, beside the delay. Half of
// the cuts are CutBefore.
func (i *Injector) Draw(names ...string) Fault {
	if !i.selects(names) {
		return None
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.flags.Errors > 0 && i.chance.Float64() < i.flags.Errors:
		return Error
	case i.flags.Cuts > 0 && i.chance.Float64() < i.flags.Cuts:
		return CutBefore + Fault(i.chance.IntN(2))
	}
	return None
}

// Hold waits as long as the answer to a call is held back. It is an error if ctx ends before.
func (i *Injector) Hold(ctx context.Context, names ...string) error {
	if !i.selects(names) {
		return nil
	}
	return Wait(ctx, i.flags.Delay)
}

// Wait waits. It is an error if ctx ends before.
func Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Err is the error of a call that gets one.
func (i *Injector) Err() error {
	return fmt.Errorf("an error on demand, by nocopy %s -errors", i.command)
}

// connKey is the key of a call's connection in its context.
type connKey struct{}

// ConnContext is for a server, whose connections Cut can then end.
func ConnContext(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, nc)
}

// Cut ends the connection of a call, and returns the error of that call.
func (i *Injector) Cut(ctx context.Context) error {
	if nc, ok := ctx.Value(connKey{}).(net.Conn); ok {
		nc.Close()
	}
	return fmt.Errorf("the connection is cut, by nocopy %s", i.command)
}
