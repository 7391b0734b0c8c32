// Package faults makes calls go wrong on purpose, as often as flags say: late answers, errors, cut
// connections, and little bandwidth. The commands that serve clients share it.
package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

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
	for _, pattern := range f.Methods {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("-methods %s: %w", pattern, err)
		}
	}
	return nil
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

// has reports whether a service has a method that a pattern fits.
func has(s dynamic.Service, pattern string) bool {
	for m := range s.AllMethods() {
		if fits(pattern, s.Name()+"."+m.Name()) {
			return true
		}
	}
	return false
}

// fits reports whether a pattern is that of a method, which may have its service's name before a
// dot or colon.
func fits(pattern, name string) bool {
	dotted := strings.ReplaceAll(name, ":", ".")
	for _, n := range []string{dotted, dotted[strings.LastIndexByte(dotted, '.')+1:]} {
		if ok, err := path.Match(strings.ReplaceAll(pattern, ":", "."), n); ok && err == nil {
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

// selects reports whether a method is one of those that faults are for.
func (i *Injector) selects(method string) bool {
	return len(i.flags.Methods) == 0 || slices.ContainsFunc(i.flags.Methods, func(pattern string) bool { return fits(pattern, method) })
}

// Draw returns what goes wrong with a call, beside the delay. Half of the cuts are CutBefore.
func (i *Injector) Draw(method string) Fault {
	if !i.selects(method) {
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
func (i *Injector) Hold(ctx context.Context, method string) error {
	if !i.selects(method) {
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
