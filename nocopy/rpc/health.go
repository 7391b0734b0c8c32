package rpc

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Health makes a Server answer health checks. A health check calls a method that has no arguments
// and returns an enum; every Thrift client can make such a call. The default is fb303's method:
//
//	enum fb_status { DEAD = 0, STARTING = 1, ALIVE = 2, STOPPING = 3, STOPPED = 4, WARNING = 5 }
//	service FacebookService { fb_status getStatus() }
//
// [CheckHealth] makes such a call. A server's interceptors do not see these calls, and they do
// not count towards its MaxInFlight. The zero Health is alive. Any number of servers and
// goroutines may use a Health.
type Health struct {
	// Method is the name by which health checks call, for a Multiplexed processor "service:method".
	// If it is empty, the name is getStatus. If the Processor has a method of that name, that method
	// is called instead; a fallback is not. Method must not be changed once a Server uses it.
	Method string

	status atomic.Int32 // of a status, 1 more; 0 if it was not set
}

// Status is the answer to a health check. The numbers are the same as in fb303's fb_status.
type Status int32

// The answers to a health check. A load balancer sends calls to servers that are alive, and may
// send some to those with a warning.
const (
	StatusDead     Status = 0
	StatusStarting Status = 1
	StatusAlive    Status = 2
	StatusStopping Status = 3
	StatusStopped  Status = 4
	StatusWarning  Status = 5
)

// String returns fb303's name of s, such as "ALIVE".
func (s Status) String() string {
	if name := healthStatuses.Name(int32(s)); name != "" {
		return name
	}
	return "Status(" + strconv.Itoa(int(s)) + ")"
}

// UnhealthyError is the error of CheckHealth for a server that does not want to be called.
type UnhealthyError struct{ Status Status }

// Error returns the status as text.
func (e *UnhealthyError) Error() string { return "rpc: the server is " + e.Status.String() }

// CheckHealth asks a server for its status, by calling getStatus. A Server with Health and fb303's
// servers answer it. CheckHealth returns nil for StatusAlive and StatusWarning, and an
// *UnhealthyError for any other status. If there is no answer, it returns the call's error: an
// *ApplicationException of type UnknownMethod if the server answers no health checks. To call
// "service:getStatus", pass a MultiplexedCaller. CheckHealth panics if c is nil.
func CheckHealth(ctx context.Context, c Caller) error {
	if c == nil {
		panic("nocopy: rpc.CheckHealth with a nil Caller")
	}
	result, err := c.Call(ctx, healthMethod, c.NewArgs(healthMethod))
	if err != nil {
		return err
	}
	defer result.Release()
	switch s := Status(thriftimpl.Struct(result).Int32(healthStatus)); s {
	case StatusAlive, StatusWarning:
		return nil
	default:
		return &UnhealthyError{s}
	}
}

// Set sets the status for later health checks. From Shutdown on, the status is StatusStopping.
func (h *Health) Set(s Status) { h.status.Store(int32(s) + 1) }

// Status returns the status that was set last, or StatusAlive.
func (h *Health) Status() Status {
	if s := h.status.Load(); s != 0 {
		return Status(s - 1)
	}
	return StatusAlive
}

var (
	healthStatuses = thriftimpl.NewEnum("fb_status", []thriftimpl.EnumValue{
		{Name: "DEAD", Value: int32(StatusDead)}, {Name: "STARTING", Value: int32(StatusStarting)},
		{Name: "ALIVE", Value: int32(StatusAlive)}, {Name: "STOPPING", Value: int32(StatusStopping)},
		{Name: "STOPPED", Value: int32(StatusStopped)}, {Name: "WARNING", Value: int32(StatusWarning)},
	})
	healthDesc = thriftimpl.NewDesc("getStatus_result")
	// of a result with one field
	healthStatus = thriftimpl.Field(entry.FirstNumber<<entry.NumberShift | (entry.FirstNumber+1)<<entry.EndShift | uint64(nocopy.WireI32)<<entry.WireShift)
)

// healthMethod is the method that CheckHealth calls.
var healthMethod = &Method{Service: "Health", Name: defaultHealthMethod, Args: rawDesc, Result: healthDesc, Success: healthStatus}

const defaultHealthMethod = "getStatus"

func init() {
	healthDesc.Define(thriftimpl.FieldDesc{ID: 0, Name: "success", Type: thriftimpl.EnumOf(healthStatuses), Req: thriftimpl.Optional})
}
