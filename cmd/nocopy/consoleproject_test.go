package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestConsoleProject: the console shows a target's calls and environments, calls the one that the
// page names, and tells a command that makes the same call.
func TestConsoleProject(t *testing.T) {
	s := newShell(t)
	idl := write(t, "shop.thrift", shopIDL)
	one, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "a", `{"method": "Shop.add", "result": 1}`))
	two, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "b", `{"method": "Shop.add", "result": 2}`))
	newProject(t, map[string]string{"nocopy.yaml": `targets:
  shop:
    address: ` + one + `
    calls:
      one and two: {method: Shop.add, args: {a: 1, b: 2}}
      big: {method: get, args: {id: 9007199254740993}}
    environments:
      two: {address: "` + two + `", protocol: compact, transport: framed}
      gone: {address: "gone.invalid:1", headers: {x: "${NOCOPY_TEST_TOKEN}"}}
  other: {address: "` + two + `"}
`})
	addr, _ := startWith(t, []string{"console", "shop", "-listen", "127.0.0.1:0", "-token", "off"}, "is at http://")
	_, text, _ := request(t, "GET", "http://"+addr+"/_console/state", "")
	for _, want := range []string{
		`"saved":[{"name":"one and two","method":"Shop.add","args":{"a":1,"b":2}},{"name":"big","method":"get","args":{"id":9007199254740993}}]`,
		`"target":"shop"`, `"environments":["shop","shop@gone","shop@two"]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the state lacks %s: %s", want, text)
		}
	}
	type outcome struct{ Result, Error, Line string }
	call := func(target, args string) (o outcome) {
		t.Helper()
		body, _ := json.Marshal(map[string]any{"method": "Shop.add", "args": args, "headers": [][2]string{{"x-who", "it's me"}}, "target": target})
		if status, text, _ := request(t, "POST", "http://"+addr+"/_console/call", string(body), jsonType); status != 200 || json.Unmarshal([]byte(text), &o) != nil {
			t.Fatalf("%d %s", status, text)
		}
		return o
	}
	for target, want := range map[string]outcome{
		"":          {"1", "", `nocopy call shop Shop.add -d '{"a": 1}' -H 'x-who: it'\''s me'`},
		"shop":      {"1", "", `nocopy call shop Shop.add -d '{"a": 1}' -H 'x-who: it'\''s me'`},
		"shop@two":  {"2", "", `nocopy call shop@two Shop.add -d '{"a": 1}' -H 'x-who: it'\''s me'`},
		"other":     {"", `there is no environment "other"`, ""},
		"shop@gone": {"", "nocopy.yaml:9:54: this would send the variable NOCOPY_TEST_TOKEN to gone.invalid:1: if that is right, allow it with nocopy config -allow shop@gone", ""},
	} {
		have := call(target, `{"a": 1}`)
		if have != want {
			t.Errorf("%s: %+v, want %+v", target, have, want)
		}
		if have.Line == "" {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-c", have.Line)
		cmd.Env = s.env
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want.Result {
			t.Errorf("$ %s\n%s, %v", have.Line, out, err)
		}
	}
	// A server that is no target is named with its flags.
	addr, _ = startWith(t, []string{"console", one, "-listen", "127.0.0.1:0", "-token", "off", "-idl", idl, "-transport", "framed"}, "is at http://")
	if have, want := call("", "{}").Line, "nocopy call "+one+" Shop.add -H 'x-who: it'\\''s me' -idl "+idl+" -transport framed"; have != want {
		t.Errorf("%s, want %s", have, want)
	}
}

// TestConsoleProjectInBrowser opens the printed URL in Chromium, makes a call of the project file
// in both environments, and reads the command that the page shows.
func TestConsoleProjectInBrowser(t *testing.T) {
	ctx := inBrowser(t)
	idl := write(t, "shop.thrift", shopIDL)
	one, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "a", `{"method": "Shop.add", "args": {"b": 2}, "result": 1}`))
	two, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "b", `{"method": "Shop.add", "args": {"b": 2}, "result": 2}`))
	newProject(t, map[string]string{"nocopy.yaml": "targets:\n  shop:\n    address: " + one +
		"\n    calls: {my sum: {method: Shop.add, args: {a: 1, b: 2}}}\n    environments: {two: {address: \"" + two + "\"}}\n"})
	addr, _ := startWith(t, []string{"console", "shop", "-listen", "127.0.0.1:0", "-token", "a token"}, "is at http://")
	var first, second, line, at string
	saved := `//nav/button[text()="my sum"]`
	err := chromedp.Run(ctx,
		chromedp.Navigate("http://"+addr+"/?token=a+token"), chromedp.Click(saved, chromedp.BySearch), chromedp.Click("#send"), chromedp.Text("#result", &first),
		chromedp.SetValue("#environment", "shop@two"), chromedp.Click(saved, chromedp.BySearch), chromedp.Click("#send"), chromedp.Text("#result", &second),
		chromedp.Text("#line", &line), chromedp.Location(&at),
	)
	if err != nil || first != "1" || second != "2" || !strings.HasPrefix(line, "nocopy call shop@two Shop.add -d '{") || at != "http://"+addr+"/" {
		t.Errorf("%v: %q, %q, %q at %s", err, first, second, line, at)
	}
}
