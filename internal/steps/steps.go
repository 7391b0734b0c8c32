// Package steps counts what the library does, so that tests can hold it to time in proportion
// without a clock. Nothing that users build contains it: [Overlay] writes copies of the library's
// sources that count, which a test builds by go's flag -overlay.
//
// A step is a call of a function, a turn of a loop, or a byte, word or element that is copied,
// moved, cleared, compared, hashed or allocated.
package steps

import "reflect"

var (
	// N is the steps counted so far.
	N int
	// Limit is the number of steps above which counting panics with Exceeded; 0 is none.
	Limit int
)

// Exceeded is the value of the panic that ends counting beyond Limit.
type Exceeded struct{}

// Step counts one step.
func Step() { add(1) }

func add(n int) {
	if N += n; N > Limit && Limit > 0 {
		panic(Exceeded{})
	}
}

// Of counts the elements of v, a slice, string or map; anything else is none. It returns v.
func Of[T any](v T) T {
	switch x := any(v).(type) {
	case []byte:
		add(len(x))
	case string:
		add(len(x))
	case []uint32:
		add(len(x))
	default:
		switch r := reflect.ValueOf(v); r.Kind() {
		case reflect.Slice, reflect.String, reflect.Map:
			add(r.Len())
		}
	}
	return v
}

// Size counts n elements that are allocated, and returns n.
func Size[I ~int | ~uint8 | ~uint32](n I) I {
	add(int(n))
	return n
}

// Copy is the builtin copy.
func Copy[D, S any](dst D, src S) (n int) {
	if d, ok := any(dst).([]byte); ok {
		switch s := any(src).(type) {
		case []byte:
			n = copy(d, s)
		case string:
			n = copy(d, s)
		}
	} else {
		n = reflect.Copy(reflect.ValueOf(dst), reflect.ValueOf(src))
	}
	add(n)
	return n
}

// Equal is equal, which is bytes.Equal: it counts the bytes up to the first that differs.
func Equal(equal func(a, b []byte) bool, a, b []byte) bool {
	for i := 0; i < len(a) && len(a) == len(b) && a[i] == b[i]; i++ {
		add(1)
	}
	return equal(a, b)
}
