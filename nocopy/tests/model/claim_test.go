package model_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestClaim: an offered message gets one owner, and is released once, by the last user.
func TestClaim(t *testing.T) {
	d, other := thriftimpl.NewDesc("S"), thriftimpl.NewDesc("Other")
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "a", Type: thriftimpl.TypeI64})
	other.Define(thriftimpl.FieldDesc{ID: 1, Name: "a", Type: thriftimpl.TypeI64})
	panics := func(want string, f func()) {
		t.Helper()
		defer func() {
			if v := fmt.Sprint(recover()); !strings.HasPrefix(v, want) {
				t.Errorf("it panics with %q", v)
			}
		}()
		f()
	}
	twice := func(release func()) { // does nothing, or panics with nocopydebug
		defer func() {
			if v := recover(); v != nil && v != "nocopy: message released twice" {
				t.Errorf("a second Release panics with %v", v)
			}
		}()
		release()
	}
	offered := func() thriftimpl.Struct {
		s := thriftimpl.New(d)
		s.Offer()
		return s
	}

	if s := thriftimpl.New(d); s.Claim(d) || s.Retain() {
		t.Error("a message that was not offered can be claimed or retained")
	} else if c, err := s.ClaimCopy(d); err != nil || c == s || !c.Is(d) {
		t.Error("it can't be copied")
	} else {
		s.End() // nothing
		s.Release()
		c.End()
		c.End() // nothing
		if c.Is(d) {
			t.Error("End does not release")
		}
	}
	for name, s := range map[string]thriftimpl.Struct{"zero": {}, "absent": thriftimpl.Struct(thriftimpl.Absent())} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.ClaimCopy(d); err == nil || s.Claim(d) || s.Retain() || s.Is(d) || s.Is(other) {
				t.Errorf("the %s handle passes for a message", name)
			}
		})
	}
	s := offered()
	if s.Retain() || s.Claim(other) || !s.Claim(d) || s.Claim(d) || !s.Is(d) || s.Is(other) {
		t.Error("not exactly once by its type")
	}
	//lint:ignore SA4000 each call claims it once more
	if !s.Retain() || !s.Retain() {
		t.Fatal("a message that has an owner can't be retained")
	}
	s.Drop()
	s.Release()
	if s.Retain() || s.Is(d) || s.Message().Len() == 0 {
		t.Error("a message that lost its owner: retained again, or gone before its time")
	}
	if _, err := s.ClaimCopy(d); err == nil {
		t.Error("it is copied, though it may go at any time")
	}
	twice(s.Message().Release)
	twice(s.Release)
	s.End() // nothing
	if s.Message().Len() == 0 {
		t.Error("a second Release ended what is retained")
	}
	s.Drop()
	panics("nocopy: S used after Release", func() { s.Message() })
	twice(s.Release)

	s = offered() // not claimed: like any other message
	s.Release()
	again := offered() // usually in the same memory
	if s.Claim(d) || s.Retain() || s.Is(d) {
		t.Error("a stale handle reaches another message")
	}
	s.End() // nothing
	if !again.Claim(d) {
		t.Error("the other message has been harmed")
	}
	again.Release()

	// Many messages at once.
	for range 200 {
		s := offered()
		s.SetInt64(2<<48|3<<32|10<<16|1, 42)
		var wg sync.WaitGroup
		var owners atomic.Int32
		for range 4 {
			wg.Go(func() {
				if s.Claim(d) {
					owners.Add(1)
					s.Release()
					return
				}
				if c, err := s.ClaimCopy(d); err == nil {
					if c.Int64(2<<48|3<<32|10<<16|1) != 42 {
						t.Error("a copy of something else")
					}
					c.Release()
				}
				if s.Retain() {
					s.Message().Len()
					s.Drop()
				}
			})
		}
		wg.Wait()
		if n := owners.Load(); n != 1 || s.Is(d) {
			t.Errorf("%d owners", n)
		}
	}
}
