package model_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

func TestUUID(t *testing.T) {
	want := nocopy.UUID{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	if got := want.String(); got != "00112233-4455-6677-8899-aabbccddeeff" {
		t.Errorf("String: %s", got)
	}
	for _, s := range []string{
		want.String(), "00112233-4455-6677-8899-AABBCCDDEEFF", "00112233445566778899aabbccddeeff", "{00112233-4455-6677-8899-aabbccddeeff}",
	} {
		t.Run(s, func(t *testing.T) {
			if got, err := nocopy.ParseUUID(s); err != nil || got != want {
				t.Errorf("ParseUUID(%q): %v, %v", s, got, err)
			}
		})
	}
	for _, s := range []string{
		"", "-", "{}", want.String()[1:], want.String() + "0", "{" + want.String(), "00112233-4455-6677-8899-aabbccddeefg",
		"0011223344-55-6677-8899-aabbccddeeff", "{00112233445566778899aabbccddeeff}0",
	} {
		t.Run(s, func(t *testing.T) {
			if _, err := nocopy.ParseUUID(s); err == nil {
				t.Errorf("ParseUUID(%q): no error", s)
			}
		})
	}
}
