package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
)

// Handler implements ThriftTest and SecondService. Of each call it prints a line to Out, as the
// servers of other languages do: the method's name with its arguments. It is for any number of
// calls at a time.
type Handler struct {
	Out io.Writer
	mu  sync.Mutex
}

func (h *Handler) printf(format string, args ...any) {
	line := fmt.Appendf(nil, format+"\n", args...)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Out.Write(line) // an error has no consequence
}

func (h *Handler) TestVoid(ctx context.Context, args thrifttest.ThriftTestTestVoidArgs, result thrifttest.ThriftTestTestVoidResult) error {
	h.printf("testVoid()")
	return nil
}

func (h *Handler) TestString(ctx context.Context, args thrifttest.ThriftTestTestStringArgs, result thrifttest.ThriftTestTestStringResult) error {
	h.printf(`testString("%s")`, args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestBool(ctx context.Context, args thrifttest.ThriftTestTestBoolArgs, result thrifttest.ThriftTestTestBoolResult) error {
	h.printf("testBool(%t)", args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestByte(ctx context.Context, args thrifttest.ThriftTestTestByteArgs, result thrifttest.ThriftTestTestByteResult) error {
	h.printf("testByte(%d)", args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestI32(ctx context.Context, args thrifttest.ThriftTestTestI32Args, result thrifttest.ThriftTestTestI32Result) error {
	h.printf("testI32(%d)", args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestI64(ctx context.Context, args thrifttest.ThriftTestTestI64Args, result thrifttest.ThriftTestTestI64Result) error {
	h.printf("testI64(%d)", args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestDouble(ctx context.Context, args thrifttest.ThriftTestTestDoubleArgs, result thrifttest.ThriftTestTestDoubleResult) error {
	h.printf("testDouble(%f)", args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestBinary(ctx context.Context, args thrifttest.ThriftTestTestBinaryArgs, result thrifttest.ThriftTestTestBinaryResult) error {
	h.printf("testBinary(%x)", args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestUuid(ctx context.Context, args thrifttest.ThriftTestTestUuidArgs, result thrifttest.ThriftTestTestUuidResult) error {
	h.printf("testUuid(%s)", args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestStruct(ctx context.Context, args thrifttest.ThriftTestTestStructArgs, result thrifttest.ThriftTestTestStructResult) error {
	h.printf("testStruct(%s)", xtruct(args.GetThing()))
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestNest(ctx context.Context, args thrifttest.ThriftTestTestNestArgs, result thrifttest.ThriftTestTestNestResult) error {
	thing := args.GetThing()
	h.printf("testNest({%d, %s, %d})", thing.GetByteThing(), xtruct(thing.GetStructThing()), thing.GetI32Thing())
	result.SetSuccess(thing)
	return nil
}

func (h *Handler) TestMap(ctx context.Context, args thrifttest.ThriftTestTestMapArgs, result thrifttest.ThriftTestTestMapResult) error {
	h.printf("testMap({%s})", pairs(args.GetThing().All()))
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestStringMap(ctx context.Context, args thrifttest.ThriftTestTestStringMapArgs, result thrifttest.ThriftTestTestStringMapResult) error {
	h.printf("testStringMap({%s})", pairs(args.GetThing().All()))
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestSet(ctx context.Context, args thrifttest.ThriftTestTestSetArgs, result thrifttest.ThriftTestTestSetResult) error {
	h.printf("testSet({%s})", elements(args.GetThing().All()))
	result.SetSuccess(args.GetThing().AppendTo(nil))
	return nil
}

func (h *Handler) TestList(ctx context.Context, args thrifttest.ThriftTestTestListArgs, result thrifttest.ThriftTestTestListResult) error {
	h.printf("testList({%s})", elements(args.GetThing().All()))
	result.SetSuccess(args.GetThing().AppendTo(nil))
	return nil
}

func (h *Handler) TestEnum(ctx context.Context, args thrifttest.ThriftTestTestEnumArgs, result thrifttest.ThriftTestTestEnumResult) error {
	h.printf("testEnum(%d)", args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestTypedef(ctx context.Context, args thrifttest.ThriftTestTestTypedefArgs, result thrifttest.ThriftTestTestTypedefResult) error {
	h.printf("testTypedef(%d)", args.GetThing())
	result.SetSuccess(args.GetThing())
	return nil
}

func (h *Handler) TestMapMap(ctx context.Context, args thrifttest.ThriftTestTestMapMapArgs, result thrifttest.ThriftTestTestMapMapResult) error {
	h.printf("testMapMap(%d)", args.GetHello())
	outer := result.NewSuccess()
	for _, sign := range []int32{-1, 1} {
		inner := outer.PutNew(4*sign, 4)
		for i := int32(1); i <= 4; i++ {
			inner.Put(i*sign, i*sign)
		}
	}
	return nil
}

func (h *Handler) TestInsanity(ctx context.Context, args thrifttest.ThriftTestTestInsanityArgs, result thrifttest.ThriftTestTestInsanityResult) error {
	h.printf("testInsanity()")
	users := result.NewSuccess()
	first := users.PutNew(1, 2)
	first.Put(thrifttest.Numberz_TWO, args.GetArgument())
	first.Put(thrifttest.Numberz_THREE, args.GetArgument())
	users.PutNew(2, 1).PutNew(thrifttest.Numberz_SIX)
	return nil
}

func (h *Handler) TestMulti(ctx context.Context, args thrifttest.ThriftTestTestMultiArgs, result thrifttest.ThriftTestTestMultiResult) error {
	h.printf("testMulti()")
	x := result.NewSuccess()
	x.SetStringThing("Hello2")
	x.SetByteThing(args.GetArg0())
	x.SetI32Thing(args.GetArg1())
	x.SetI64Thing(args.GetArg2())
	return nil
}

func (h *Handler) TestException(ctx context.Context, args thrifttest.ThriftTestTestExceptionArgs, result thrifttest.ThriftTestTestExceptionResult) error {
	h.printf("testException(%s)", args.GetArg())
	switch args.GetArg() {
	case "Xception":
		x := thrifttest.NewXception() // an exception may be returned as the error
		x.SetErrorCode(1001)
		x.SetMessage(args.GetArg())
		return x
	case "TException":
		return errors.New("This is a TException")
	}
	return nil
}

func (h *Handler) TestMultiException(ctx context.Context, args thrifttest.ThriftTestTestMultiExceptionArgs, result thrifttest.ThriftTestTestMultiExceptionResult) error {
	h.printf("testMultiException(%s, %s)", args.GetArg0(), args.GetArg1())
	switch args.GetArg0() {
	case "Xception":
		x := result.NewErr1() // or be filled in place in the result
		x.SetErrorCode(1001)
		x.SetMessage("This is an Xception")
	case "Xception2":
		x := result.NewErr2()
		x.SetErrorCode(2002)
		x.NewStructThing().SetStringThing("This is an Xception2")
	default:
		result.NewSuccess().SetStringThing(args.GetArg1())
	}
	return nil
}

func (h *Handler) TestOneway(ctx context.Context, args thrifttest.ThriftTestTestOnewayArgs) error {
	seconds := args.GetSecondsToSleep()
	h.printf("testOneway(%d): Sleeping...", seconds)
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
		h.printf("testOneway(%d): done sleeping!", seconds)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SecondtestString is SecondService's method.
func (h *Handler) SecondtestString(ctx context.Context, args thrifttest.SecondServiceSecondtestStringArgs, result thrifttest.SecondServiceSecondtestStringResult) error {
	h.printf(`testString("%s")`, args.GetThing())
	result.SetSuccess(`testString("` + args.GetThing() + `")`)
	return nil
}

func xtruct(x thrifttest.Xtruct) string {
	return fmt.Sprintf(`{"%s", %d, %d, %d}`, x.GetStringThing(), x.GetByteThing(), x.GetI32Thing(), x.GetI64Thing())
}

func pairs[K, V any](all iter.Seq2[K, V]) string {
	var list []string
	for k, v := range all {
		list = append(list, fmt.Sprintf("%v => %v", k, v))
	}
	return strings.Join(list, ", ")
}

func elements[T any](all iter.Seq2[int, T]) string {
	var list []string
	for _, v := range all {
		list = append(list, fmt.Sprint(v))
	}
	return strings.Join(list, ", ")
}
