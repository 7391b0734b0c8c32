package oldcode_test

import (
	"os"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

func TestMain(m *testing.M) { os.Exit(testmode.Main(m, nocopy.Leaked)) }
