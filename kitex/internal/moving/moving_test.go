package moving

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/server"

	plainfeed "github.com/nocopythrift/nocopythrift/kitex/internal/plain/shop/feed"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop/feed"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

// declarations returns the functions of a file by their names, methods after the receiver's type.
func declarations(t *testing.T, name string, all map[string]string) {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			recv := fn.Recv.List[0].Type
			if p, ok := recv.(*ast.StarExpr); ok {
				recv = p.X
			}
			name = recv.(*ast.Ident).Name + "." + name
		}
		all[name] = string(src[set.Position(fn.Pos()).Offset:set.Position(fn.End()).Offset])
	}
}

// TestPage compares the code blocks of the page with the code here. A comment before each block
// has its name.
func TestPage(t *testing.T) {
	code := map[string]string{}
	declarations(t, "old.go", code)
	declarations(t, "new.go", code)
	page, err := os.ReadFile("../../../docs/kitex.md")
	if err != nil {
		t.Fatal(err)
	}
	// The blocks of kitexproxy are compared there.
	page = regexp.MustCompile("(?s)<!-- kitexproxy: \\w+ -->\n```go\n.*?\n```").ReplaceAll(page, nil)
	blocks := regexp.MustCompile("(?s)(<!-- (\\S+) -->\n)?```go\n(.*?)\n```").FindAllStringSubmatch(string(page), -1)
	seen := map[string]bool{}
	for _, b := range blocks {
		name, text := b[2], b[3]
		if code[name] == "" {
			t.Errorf("there is no function %q for the block\n%s", name, text)
		} else if text != code[name] {
			t.Errorf("the block of %s is not its code:\n%s", name, code[name])
		}
		seen[name] = true
	}
	for name := range code {
		if !seen[name] && !strings.HasSuffix(name, "Handler.Ping") {
			t.Errorf("%s is not on the page", name)
		}
	}
}

// serve runs a server until the test ends and returns its address.
func serve(t *testing.T, f func(net.Listener) server.Server) string {
	t.Helper()
	klog.SetLevel(klog.LevelFatal)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go f(l).Run() // until the test program ends
	return l.Addr().String()
}

// TestCode runs the code: old and new clients get the same results from old and new servers.
func TestCode(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for name, f := range map[string]func(net.Listener) server.Server{"old": oldServer, "new": newServer, "recycling": recycling} {
		addr := serve(t, f)
		old, err := oldClient(addr)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := newClient(addr)
		if err != nil {
			t.Fatal(err)
		}
		second, err := recyclingClient(addr)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := oldCall(ctx, old); n != 19 || err != nil {
			t.Errorf("old client, %s server: %d, %v", name, n, err)
		}
		if n, err := newCall(ctx, ours); n != 19 || err != nil {
			t.Errorf("new client, %s server: %d, %v", name, n, err)
		}
		if n, err := newCall(ctx, second); n != 19 || err != nil {
			t.Errorf("recycling client, %s server: %d, %v", name, n, err)
		}
		for range 2 {
			if id := <-logged; id != 7 {
				t.Errorf("a middleware has seen order %d", id)
			}
		}
		if what := oldException(ctx, old); what != "items" {
			t.Errorf("old client, %s server: exception %q", name, what)
		}
		if what := newException(ctx, ours); what != "items" {
			t.Errorf("new client, %s server: exception %q", name, what)
		}
		<-logged
		<-logged
		through, err := recyclingClient(serve(t, func(l net.Listener) server.Server { return proxyServer(l, &proxy{&newHandler{}, second}) }))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := newCall(ctx, through); n != 99 || err != nil {
			t.Errorf("through a proxy: %d, %v", n, err)
		}
	}
	for name, f := range map[string]func(net.Listener) server.Server{
		"old": func(l net.Listener) server.Server { return plainfeed.NewServer(&oldFeed{}, server.WithListener(l)) },
		"new": func(l net.Listener) server.Server { return feed.NewServer(&newFeed{}, server.WithListener(l)) },
	} {
		addr := serve(t, f)
		if n, err := oldTalk(ctx, plainfeed.MustNewClient("feed", client.WithHostPorts(addr), client.WithConnectTimeout(time.Minute))); n != 2 || err != nil {
			t.Errorf("old client, %s server: %d, %v", name, n, err)
		}
		if n, err := newTalk(ctx, feed.MustNewClient("feed", client.WithHostPorts(addr), client.WithConnectTimeout(time.Minute))); n != 2 || err != nil {
			t.Errorf("new client, %s server: %d, %v", name, n, err)
		}
	}
}

func proxyServer(l net.Listener, p *proxy) server.Server {
	return shopservice.NewServer(p, server.WithListener(l), nocopykitex.ServerRecycle())
}
