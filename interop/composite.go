package interop

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"

	tt "github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// plain has the fields of an Xtruct, for comparing.
type plain struct {
	text string
	i8   int8
	i32  int32
	i64  int64
}

func (p plain) fill(x tt.Xtruct) {
	x.SetStringThing(p.text)
	x.SetByteThing(p.i8)
	x.SetI32Thing(p.i32)
	x.SetI64Thing(p.i64)
}

func plainOf(x tt.Xtruct) plain {
	return plain{x.GetStringThing(), x.GetByteThing(), x.GetI32Thing(), x.GetI64Thing()}
}

func (p plain) String() string { return fmt.Sprintf("{%q, %d, %d, %d}", p.text, p.i8, p.i32, p.i64) }

// nested has the fields of an Xtruct2.
type nested struct {
	i8    int8
	inner plain
	i32   int32
}

func (n nested) fill(x tt.Xtruct2) {
	x.SetByteThing(n.i8)
	n.inner.fill(x.NewStructThing())
	x.SetI32Thing(n.i32)
}

func nestedOf(x tt.Xtruct2) nested {
	return nested{x.GetByteThing(), plainOf(x.GetStructThing()), x.GetI32Thing()}
}

func (n nested) String() string { return fmt.Sprintf("{%d, %v, %d}", n.i8, n.inner, n.i32) }

func (s *suite) structs() {
	const bit = FailedStructs
	c := s.client
	zero := plain{"Zero", 1, -3, -5}
	echo(s, bit, "testStruct", c.TestStruct,
		func(args tt.ThriftTestTestStructArgs, v plain) { v.fill(args.NewThing()) },
		func(r tt.ThriftTestTestStructResult) plain { return plainOf(r.GetSuccess()) },
		zero, plain{})
	echo(s, bit, "testNest", c.TestNest,
		func(args tt.ThriftTestTestNestArgs, v nested) { v.fill(args.NewThing()) },
		func(r tt.ThriftTestTestNestResult) nested { return nestedOf(r.GetSuccess()) },
		nested{1, zero, 5})
	echo(s, bit, "testEnum", c.TestEnum, tt.ThriftTestTestEnumArgs.SetThing, tt.ThriftTestTestEnumResult.GetSuccess,
		tt.Numberz_ONE, tt.Numberz_TWO, tt.Numberz_THREE, tt.Numberz_FIVE, tt.Numberz_EIGHT)
	s.test(bit, "testMulti()", s.multi)
	s.test(bit, "testInsanity()", s.insanity)
}

func (s *suite) multi(ctx context.Context) (string, error) {
	r, err := s.client.TestMulti(ctx, func(args tt.ThriftTestTestMultiArgs) {
		args.SetArg0(74)
		args.SetArg1(0xff00ff)
		args.SetArg2(0xffffffffd0d0)
		args.NewArg3().Put(0, "abc")
		args.SetArg4(tt.Numberz_FIVE)
		args.SetArg5(0xf0f0f0)
	})
	if err != nil {
		return "", err
	}
	defer r.Release()
	return same(plain{"Hello2", 74, 0xff00ff, 0xffffffffd0d0}, plainOf(r.GetSuccess()))
}

func (s *suite) insanity(ctx context.Context) (string, error) {
	users := map[tt.Numberz]int64{tt.Numberz_FIVE: 5, tt.Numberz_EIGHT: 8}
	xtructs := []plain{{"Goodbye4", 4, 4, 4}, {"Hello2", 2, 2, 2}}
	r, err := s.client.TestInsanity(ctx, func(args tt.ThriftTestTestInsanityArgs) {
		x := args.NewArgument()
		m := x.NewUserMap()
		for k, v := range users {
			m.Put(k, v)
		}
		list := x.NewXtructs(len(xtructs))
		for i, p := range xtructs {
			p.fill(list.At(i))
		}
	})
	if err != nil {
		return "", err
	}
	defer r.Release()
	whoa := r.GetSuccess()
	first, ok1 := whoa.Get(1)
	second, ok2 := whoa.Get(2)
	if whoa.Len() != 2 || !ok1 || !ok2 || first.Len() != 2 || second.Len() != 1 {
		return "", fmt.Errorf("got %v", r)
	}
	for _, n := range []tt.Numberz{tt.Numberz_TWO, tt.Numberz_THREE} {
		x, _ := first.Get(n) // an absent one has nothing in it
		if got := maps.Collect(x.GetUserMap().All()); !maps.Equal(got, users) {
			return "", fmt.Errorf("1, %v: userMap is %v", n, got)
		}
		if x.GetXtructs().Len() != len(xtructs) {
			return "", fmt.Errorf("1, %v: xtructs of length %d", n, x.GetXtructs().Len())
		}
		for i, want := range xtructs {
			if _, err := same(want, plainOf(x.GetXtructs().At(i))); err != nil {
				return "", fmt.Errorf("1, %v, xtructs[%d]: %w", n, i, err)
			}
		}
	}
	if six, ok := second.Get(tt.Numberz_SIX); !ok || six.GetUserMap().Len() > 0 || six.GetXtructs().Len() > 0 {
		return "", fmt.Errorf("2, 6 is %v", six)
	}
	return r.String(), nil
}

// sameMap and sameList return got as text, or an error if it differs from want.
func sameMap[K, V comparable](want map[K]V, got iter.Seq2[K, V], n int) (string, error) {
	if m := maps.Collect(got); !maps.Equal(m, want) || n != len(want) {
		return "", fmt.Errorf("expected %v but got a map of length %d: %v", want, n, m)
	}
	return fmt.Sprint(want), nil
}

func sameList(want, got []int32) (string, error) { return same(fmt.Sprint(want), fmt.Sprint(got)) }

func (s *suite) containers() {
	for _, want := range []map[int32]int32{{0: -10, 1: -9, 2: -8, 3: -7, -4: -6}, {}, squares(5000)} {
		s.test(FailedContainers, fmt.Sprintf("testMap(%v)", want), func(ctx context.Context) (string, error) {
			r, err := s.client.TestMap(ctx, func(args tt.ThriftTestTestMapArgs) { putAll(args.NewThing().Put, want) })
			if err != nil {
				return "", err
			}
			defer r.Release()
			return sameMap(want, r.GetSuccess().All(), r.GetSuccess().Len())
		})
	}
	for _, want := range []map[string]string{{"a": "2", "b": "blah", "some": "thing", "": "\x00"}, {}} {
		s.test(FailedContainers, fmt.Sprintf("testStringMap(%v)", want), func(ctx context.Context) (string, error) {
			r, err := s.client.TestStringMap(ctx, func(args tt.ThriftTestTestStringMapArgs) { putAll(args.NewThing().Put, want) })
			if err != nil {
				return "", err
			}
			defer r.Release()
			return sameMap(want, r.GetSuccess().All(), r.GetSuccess().Len())
		})
	}
	for _, want := range [][]int32{{-2, -1, 0, 1, 2}, {}, {42}} {
		s.test(FailedContainers, fmt.Sprintf("testSet(%v)", want), func(ctx context.Context) (string, error) {
			r, err := s.client.TestSet(ctx, func(args tt.ThriftTestTestSetArgs) { args.SetThing(want) })
			if err != nil {
				return "", err
			}
			defer r.Release()
			return sameMembers(want, r.GetSuccess().AppendTo(nil))
		})
	}
	for _, want := range [][]int32{{-2, -1, 0, 1, 2, 2, -2}, {}, make([]int32, 20_000)} {
		s.test(FailedContainers, fmt.Sprintf("testList(%v)", want), func(ctx context.Context) (string, error) {
			r, err := s.client.TestList(ctx, func(args tt.ThriftTestTestListArgs) { args.SetThing(want) })
			if err != nil {
				return "", err
			}
			defer r.Release()
			return sameList(want, r.GetSuccess().AppendTo(nil))
		})
	}
	s.test(FailedContainers, "testMapMap(1)", s.mapMap)
}

func putAll[K comparable, V any](put func(K, V), m map[K]V) {
	for k, v := range m {
		put(k, v)
	}
}

func squares(n int32) map[int32]int32 {
	m := make(map[int32]int32, n)
	for i := range n {
		m[i] = i * i
	}
	return m
}

// sameMembers compares sets, whose elements come in any order.
func sameMembers(want, got []int32) (string, error) {
	left := make(map[int32]bool)
	for _, v := range want {
		left[v] = true
	}
	for _, v := range got {
		delete(left, v)
	}
	if len(got) != len(want) || len(left) > 0 {
		return "", fmt.Errorf("expected %v but got %v", want, got)
	}
	return fmt.Sprint(got), nil
}

func (s *suite) mapMap(ctx context.Context) (string, error) {
	r, err := s.client.TestMapMap(ctx, func(args tt.ThriftTestTestMapMapArgs) { args.SetHello(1) })
	if err != nil {
		return "", err
	}
	defer r.Release()
	if n := r.GetSuccess().Len(); n != 2 {
		return "", fmt.Errorf("got a map of length %d", n)
	}
	for _, want := range []map[int32]int32{{-4: -4, -3: -3, -2: -2, -1: -1}, {1: 1, 2: 2, 3: 3, 4: 4}} {
		key := int32(4)
		if want[key] == 0 {
			key = -4
		}
		inner, ok := r.GetSuccess().Get(key)
		if !ok {
			return "", fmt.Errorf("nothing for %d", key)
		}
		if _, err := sameMap(want, inner.All(), inner.Len()); err != nil {
			return "", err
		}
	}
	return r.String(), nil
}

func (s *suite) exceptions() {
	const bit = FailedExceptions
	s.test(bit, `testException("Xception")`, func(ctx context.Context) (string, error) {
		return xception("Xception", s.exception(ctx, "Xception"))
	})
	s.test(bit, `testException("TException")`, func(ctx context.Context) (string, error) {
		var app *rpc.ApplicationException
		if err := s.exception(ctx, "TException"); !errors.As(err, &app) {
			return "", fmt.Errorf("expected a TApplicationException but got %v", err)
		}
		return app.Error(), nil
	})
	s.test(bit, `testException("success")`, func(ctx context.Context) (string, error) {
		return "void", s.exception(ctx, "success")
	})
	s.test(bit, `testMultiException("Xception", "test 1")`, func(ctx context.Context) (string, error) {
		_, err := s.multiException(ctx, "Xception", "test 1")
		return xception("This is an Xception", err)
	})
	s.test(bit, `testMultiException("Xception2", "test 2")`, func(ctx context.Context) (string, error) {
		_, err := s.multiException(ctx, "Xception2", "test 2")
		var x tt.Xception2
		if !errors.As(err, &x) {
			return "", fmt.Errorf("expected an Xception2 but got %v", err)
		}
		defer x.Release()
		if x.GetErrorCode() != 2002 || x.GetStructThing().GetStringThing() != "This is an Xception2" {
			return "", fmt.Errorf("got %v", x)
		}
		return x.Error(), nil
	})
	s.test(bit, `testMultiException("success", "test 3")`, func(ctx context.Context) (string, error) {
		got, err := s.multiException(ctx, "success", "test 3")
		if err != nil {
			return "", err
		}
		return same("test 3", got)
	})
}

func (s *suite) exception(ctx context.Context, arg string) error {
	r, err := s.client.TestException(ctx, func(args tt.ThriftTestTestExceptionArgs) { args.SetArg(arg) })
	if err == nil {
		r.Release()
	}
	return err
}

func (s *suite) multiException(ctx context.Context, arg0, arg1 string) (string, error) {
	r, err := s.client.TestMultiException(ctx, func(args tt.ThriftTestTestMultiExceptionArgs) {
		args.SetArg0(arg0)
		args.SetArg1(arg1)
	})
	if err != nil {
		return "", err
	}
	defer r.Release()
	return r.GetSuccess().GetStringThing(), nil
}

// xception checks that an error is an Xception with this message.
func xception(message string, err error) (string, error) {
	var x tt.Xception
	if !errors.As(err, &x) {
		return "", fmt.Errorf("expected an Xception but got %v", err)
	}
	defer x.Release()
	if x.GetErrorCode() != 1001 || x.GetMessage() != message {
		return "", fmt.Errorf("got %v", x)
	}
	return x.Error(), nil
}
