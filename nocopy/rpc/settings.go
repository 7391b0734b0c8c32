package rpc

import (
	"cmp"
	"log/slog"
	"net"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

const (
	defaultPoolSize    = 4
	defaultMaxInFlight = 1024
	defaultDialTimeout = 10 * time.Second
	defaultIdle        = 50 * time.Second
	defaultAge         = 30 * time.Minute
)

// optionsOf returns the settings for Dial that the options make, with defaults for the others.
func optionsOf(list []Option) options {
	o := settingsOf(list)
	switch {
	case o.Style.THeader != nil && o.Transport == transport.Unframed:
		panic("nocopy: rpc.THeader together with rpc.Unframed: a THeader is in a frame")
	case o.Login != nil && o.Transport == transport.Unframed:
		panic("nocopy: rpc.SASL together with rpc.Unframed: after a login, messages are in frames")
	case o.HTTPClient != nil:
		panic("nocopy: rpc.Dial with rpc.HTTPClient, which is for rpc.DialHTTP")
	}
	if o.Style.THeader != nil {
		o.Transport = transport.THeader
	}
	o.setDefaults()
	return o
}

// settingsOf returns the settings that the options make, without the defaults of setDefaults.
func settingsOf(list []Option) options {
	o := options{Config: client.Config{Transport: transport.Framed, Logger: slog.Default(), StatusError: newHTTPError}}
	for _, opt := range list {
		if opt == nil {
			panic("nocopy: a nil rpc.Option")
		}
		opt.apply(&o)
	}
	return o
}

// setDefaults sets the options that have not been set.
func (o *options) setDefaults() {
	if o.deadlines {
		o.interceptors = append(o.interceptors, sendDeadline)
	}
	if o.DialFunc == nil {
		o.DialFunc = new(net.Dialer).DialContext
	}
	if o.One {
		o.PoolSize, o.IdleTimeout, o.MaxConnAge = 1, cmp.Or(o.IdleTimeout, -1), cmp.Or(o.MaxConnAge, -1)
	}
	o.PoolSize = max(setting.Or(o.PoolSize, defaultPoolSize), 1)
	o.MaxInFlight = max(setting.Or(o.MaxInFlight, defaultMaxInFlight), 1)
	o.DialTimeout = setting.Or(o.DialTimeout, defaultDialTimeout)
	o.StallTimeout = setting.Or(o.StallTimeout, setting.Timeout)
	o.IdleTimeout = setting.Or(o.IdleTimeout, defaultIdle)
	o.MaxConnAge = setting.Or(o.MaxConnAge, defaultAge)
	if o.Shared == shared.TrustPeer {
		o.Recycle, o.Sizes = true, new(shared.Sizes)
	}
}

// checkHTTP panics if there are settings that mean nothing over HTTP.
func (o *options) checkHTTP() {
	refuse := func(is bool, option, why string) {
		if is {
			panic("nocopy: rpc.DialHTTP with rpc." + option + ": " + why)
		}
	}
	refuse(o.Transport != transport.Framed, "Unframed", "a request of HTTP holds one message")
	refuse(o.Style.THeader != nil, "THeader", "HTTP has headers of its own")
	refuse(o.Login != nil, "SASL", "HTTP has logins of its own")
	refuse(o.Shared != 0, "SharedMemory", "it needs a unix socket of its own")
	refuse(o.MaxShared != 0, "MaxShared", "there is no shared memory")
	refuse(o.One, "OneConnection", "net/http decides which connection is used")
	refuse(o.MaxConnAge != 0, "MaxConnAge", "net/http decides how long a connection is used")
	if o.HTTPClient != nil {
		const why = "the http.Client makes the connections"
		refuse(o.TLS != nil, "TLS", why)
		refuse(o.DialFunc != nil, "Dialer", why)
		refuse(o.DialTimeout != 0, "DialTimeout", why)
		refuse(o.KeepAlive != net.KeepAliveConfig{}, "KeepAlive", why)
		refuse(o.IdleTimeout != 0, "IdleTimeout", why)
		refuse(o.PoolSize != 0, "PoolSize", why)
	}
}
