package testtypes

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// Panics calls f, which must panic with the text.
func Panics(t *testing.T, what, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got := recover()
		if text == PanicAbsent && strings.Contains(fmt.Sprint(got), SetterOnAbsent) {
			return // it may name the field
		}
		if strings.HasPrefix(text, PanicStale) && IsStale(got) {
			return // it may name the type
		}
		if got != text {
			t.Errorf("%s: panic with %v, want %q", what, got, text)
		}
	}()
	f()
}

// IsStale reports whether v is the panic of a use after Release that names the message's type.
func IsStale(v any) bool {
	const text = `^nocopy: (part of )?\w+ used after Release(\z| \(build with |; (made|released) at\n)`
	return regexp.MustCompile(text).MatchString(fmt.Sprint(v))
}

// IgnoredTwice calls a Release that is not the first. It must do nothing; with the tag nocopydebug
// it must panic.
func IgnoredTwice(t *testing.T, what string, release func()) {
	t.Helper()
	if testmode.Debug {
		Panics(t, what+": a second Release", PanicTwice, release)
		return
	}
	release()
}

// PanicsWith runs f, which must panic with a text that begins with begins.
func PanicsWith(t *testing.T, begins string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, begins) {
			t.Errorf("the panic is %q", got)
		}
	}()
	f()
}

// Texts of panics.
const (
	PanicStale     = "nocopy: handle used after Release"
	PanicAbsent    = "nocopy" + SetterOnAbsent + "NewX first"
	PanicFull      = "nocopy: message larger than its address space of 2 GiB"
	PanicTwice     = "nocopy: message released twice"
	PanicConst     = "nocopy: setter called on a constant of the IDL, which never changes: change a copy of it"
	PanicGone      = "nocopy: setter called on a struct or container that is no longer in its message"
	PanicNotRoot   = "nocopy: Release called on a handle that is not its message's root"
	SetterOnAbsent = ": setter called on an absent struct or container: use "
)
