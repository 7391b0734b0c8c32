package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
)

// TestBaseType: other types than base types give a panic with one of our texts.
func TestBaseType(t *testing.T) {
	for i := range 256 {
		func() {
			defer func() {
				if p := recover(); p != nil && !strings.HasPrefix(fmt.Sprint(p), "nocopy: ") {
					t.Errorf("%d: %v", i, p)
				}
			}()
			if impl.BaseType(nocopy.WireType(i)) == nil {
				t.Errorf("%d: nil", i)
			}
		}()
	}
}
