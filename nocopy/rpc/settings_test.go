package rpc

import (
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
