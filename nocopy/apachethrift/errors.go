package apachethrift

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

//lint:ignore ST1005 a name
var errSimpleJSON = errors.New("Apache's simple JSON can be written, but not read")

// reason returns an error that wraps both the protocol's error and the error of package nocopy for
// the same fault, for errors.Is.
func reason(err error) error {
	var known error
	var e thrift.TProtocolException
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case errors.Is(err, io.EOF):
		known = io.ErrUnexpectedEOF
	case !errors.As(err, &e):
		return err
	case e.TypeId() == thrift.SIZE_LIMIT || e.TypeId() == thrift.DEPTH_LIMIT:
		known = nocopy.ErrLimit
	case e.TypeId() == thrift.NEGATIVE_SIZE:
		known = nocopy.ErrNegative
	default:
		return err
	}
	return fmt.Errorf("%w: %w", known, err)
}

// protocolException converts an error of reading to the form of Apache's library: a
// TProtocolException, in which errors.As finds the *nocopy.Error.
func protocolException(err error) error {
	kind := thrift.INVALID_DATA
	var e thrift.TProtocolException
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		kind = e.TypeId()
	case errors.Is(err, nocopy.ErrLimit):
		kind = thrift.SIZE_LIMIT
	case errors.Is(err, nocopy.ErrNegative):
		kind = thrift.NEGATIVE_SIZE
	}
	return thrift.NewTProtocolExceptionWithType(kind, err)
}
