package rpc

import (
	"fmt"
	"reflect"
	"testing"
)

// TestZeroSettings: an option that is 0 has its default, as a field of a Server has, and a
// negative time is no limit.
func TestZeroSettings(t *testing.T) {
	zero := []Option{PoolSize(0), MaxInFlight(0), MaxFrame(0), Limits{}, DialTimeout(0), StallTimeout(0), Interceptors()}
	without, with := optionsOf(nil), optionsOf(zero)
	for _, o := range []*options{&without, &with} {
		o.DialFunc, o.StatusError = nil, nil // functions are never equal
	}
	if !reflect.DeepEqual(without, with) {
		t.Errorf("options that are 0 differ from options that are not given:\n%+v\n%+v", with, without)
	}
	if o := optionsOf([]Option{DialTimeout(-1), StallTimeout(-1)}); o.DialTimeout != 0 || o.StallTimeout != 0 {
		t.Errorf("limits of %v and %v from negative times", o.DialTimeout, o.StallTimeout)
	}
	if o := optionsOf([]Option{PoolSize(-1), MaxInFlight(-1)}); o.PoolSize != 1 || o.MaxInFlight != 1 {
		t.Errorf("%d connections and %d calls from negative numbers", o.PoolSize, o.MaxInFlight)
	}
}

// TestFlags: each Flag sets an option of its own. Numbers that are no Flag panic.
func TestFlags(t *testing.T) {
	without := optionsOf(nil)
	seen := map[string]Flag{}
	for f := Unframed; f <= OneConnection; f++ {
		o := optionsOf([]Option{f})
		for _, o := range []*options{&o, &without} {
			o.DialFunc, o.StatusError = nil, nil // functions are never equal
			o.interceptors = make([]Interceptor, len(o.interceptors))
		}
		text := fmt.Sprintf("%+v", o)
		if other, ok := seen[text]; ok || reflect.DeepEqual(o, without) {
			t.Errorf("flag %d sets nothing, or the same as %d", f, other)
		}
		seen[text] = f
	}
	for _, f := range []Flag{0, OneConnection + 1} {
		func() {
			defer func() {
				if got := recover(); got != "nocopy: an unknown rpc.Flag" {
					t.Errorf("flag %d: %v", f, got)
				}
			}()
			optionsOf([]Option{f})
		}()
	}
}
