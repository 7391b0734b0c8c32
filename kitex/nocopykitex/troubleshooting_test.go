package nocopykitex_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
)

// TestTroubleshooting provokes the messages that docs/troubleshooting.md has for Kitex.
func TestTroubleshooting(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Kitex\n")
	section, _, _ = strings.Cut(section, "\n## ")
	messages := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1)
	if len(messages) < 5 {
		t.Fatalf("%d messages", len(messages))
	}

	var said []string
	framed := carrierNamed("framed")
	for _, echo := range []func(context.Context, shop.ShopEchoArgs, shop.ShopEchoResult) error{
		func(context.Context, shop.ShopEchoArgs, shop.ShopEchoResult) error { return nil },
		func(_ context.Context, args shop.ShopEchoArgs, _ shop.ShopEchoResult) error {
			args.Release()
			return nil
		},
		func(context.Context, shop.ShopEchoArgs, shop.ShopEchoResult) error { panic("a mistake") },
		shop.UnimplementedShopHandler{}.Echo,
	} {
		cl := framed.dial(t, framed.serve(t, &echoHandler{newHandler(t), echo}))
		said = append(said, textOf(cl))
	}

	gone := listen(t)
	gone.Close()
	said = append(said, textOf(framed.dial(t, gone.Addr().String())))

	for _, m := range messages {
		text := strings.ReplaceAll(regexp.QuoteMeta(strings.ReplaceAll(m[1], " … ", "…")), "…", ".*?")
		if !slices.ContainsFunc(said, regexp.MustCompile(text).MatchString) {
			t.Errorf("nothing gives %q", m[1])
		}
	}
	if t.Failed() {
		t.Logf("provoked:\n%s", strings.Join(said, "\n"))
	}
}
