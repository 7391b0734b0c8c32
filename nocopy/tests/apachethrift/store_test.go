// A handler of the service KeyValue that keeps the values in a map.

package apachethrift_test

import (
	"context"
	"errors"

	"github.com/nocopythrift/nocopythrift/examples/kv"
)

// store is a handler.
type store map[string]string

func (s store) Create(_ context.Context, args kv.KeyValueCreateArgs, _ kv.KeyValueCreateResult) error {
	if _, ok := s[string(args.GetKey())]; ok {
		exists := kv.NewAlreadyExists()
		exists.SetKey(args.GetKey())
		return exists
	}
	s[string(args.GetKey())] = string(args.GetValue())
	return nil
}

func (s store) Retrieve(_ context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
	v, ok := s[string(args.GetKey())]
	if !ok {
		result.NewMissing().SetKey(args.GetKey())
		return nil
	}
	result.SetSuccess([]byte(v))
	return nil
}

func (s store) Update(context.Context, kv.KeyValueUpdateArgs, kv.KeyValueUpdateResult) error {
	return errors.New("not today")
}

func (s store) Delete(context.Context, kv.KeyValueDeleteArgs, kv.KeyValueDeleteResult) error {
	return nil
}
