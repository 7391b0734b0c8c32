package hive_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestConfigPrinted: package fmt and slog print no secrets of a Config, wherever it is.
func TestConfigPrinted(t *testing.T) {
	cfg := serve(t, good())
	cfg.User, cfg.Password, cfg.Token = "ada", "secret1", "secret2"
	cfg.Settings = map[string]string{"spark.hadoop.fs.s3a.secret.key": "secret3"}
	connector := hive.NewConnector(cfg)
	db := sql.OpenDB(connector)
	defer db.Close()
	noToken := cfg
	noToken.Token = ""
	conn := connect(t, noToken)
	result, err := conn.Query(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	for result.Next() { // else rows are fetched ahead while the result is printed
	}
	type outer struct {
		Name   string
		Config hive.Config
		Ptr    *hive.Config
	}
	type hidden struct{ cfg *hive.Config }
	unexported := map[string]bool{"unexported pointer": true, "connector": true, "db": true, "conn": true, "result": true}
	for name, v := range map[string]any{
		"value": cfg, "pointer": &cfg, "struct": outer{"n", cfg, &cfg}, "pointer to struct": &outer{"n", cfg, &cfg}, "slice": []hive.Config{cfg}, "pointers": []*hive.Config{&cfg},
		"map": map[string]hive.Config{"k": cfg}, "any": []any{cfg, &cfg}, "unexported pointer": hidden{&cfg}, "connector": connector, "db": db, "conn": conn, "result": result,
		"error": fmt.Errorf("with %v", cfg),
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%10.2v"} {
			if unexported[name] && !strings.HasSuffix(verb, "v") {
				continue // fmt follows the pointer then
			}
			text := fmt.Sprintf(verb, v)
			for _, secret := range []string{"secret1", "secret2", "secret3", fmt.Sprintf("%x", "secret1")} {
				if strings.Contains(text, secret) {
					t.Errorf("%s of %s: %s", verb, name, text)
				}
			}
		}
	}
	var line bytes.Buffer
	slog.New(slog.NewTextHandler(&line, nil)).Info("x", "cfg", cfg, "ptr", &cfg)
	slog.New(slog.NewJSONHandler(&line, nil)).Info("x", "cfg", cfg, "ptr", &cfg)
	if strings.Contains(line.String(), "secret1") {
		t.Error(line.String())
	}
	text := fmt.Sprintf("%+v", cfg)
	for _, part := range []string{"Addr:127.0.0.1:", "User:ada", "Password:***", "Token:***", "spark.hadoop.fs.s3a.secret.key:***", "NoSASL:true"} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	if text := fmt.Sprintf("%#v", hive.Config{}); !strings.HasPrefix(text, "hive.Config{") || strings.Contains(text, "***") {
		t.Error(text)
	}
	if cfg.Password != "secret1" || cfg.Settings["spark.hadoop.fs.s3a.secret.key"] != "secret3" {
		t.Error("printing has changed it")
	}
	if fmt.Sprintf("%v", (*hive.Config)(nil)) != "<nil>" {
		t.Error("a nil pointer")
	}
}

// formatted has the method by which package fmt lets a type print itself, and nothing else.
type formatted struct{ Secret string }

func (formatted) Format(f fmt.State, _ rune) { io.WriteString(f, "hidden") }

// TestVerbsWithoutMethods: fmt calls no method of a struct for %p and %w, and prints its strings.
// No type can prevent that, and Format's documentation says so. For all other letters it calls
// Format.
func TestVerbsWithoutMethods(t *testing.T) {
	v := formatted{"secret"}
	var shown []string
	for verb := 'A'; verb <= 'z'; verb++ {
		if verb > 'Z' && verb < 'a' || verb == 'T' { // T prints the type's name
			continue
		}
		if strings.Contains(fmt.Sprintf("%"+string(verb), v), "secret") {
			shown = append(shown, string(verb))
		}
		cfg := hive.Config{Password: "secret", Token: "secret", Settings: map[string]string{"a": "secret"}}
		if text := fmt.Sprintf("%"+string(verb), cfg); verb != 'p' && verb != 'w' && strings.Contains(text, "secret") {
			t.Errorf("%%%c: %s", verb, text)
		}
	}
	if !slices.Equal(shown, []string{"p", "w"}) {
		t.Errorf("fmt calls no Format for %v: the documentation of Config.Format says p and w", shown)
	}
}

// TestQuiet: the driver writes no lines to the program's log, except to Config.Logger.
func TestQuiet(t *testing.T) {
	var all, own bytes.Buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&all, nil)))
	silent := &rpc.Server{Logger: slog.New(slog.DiscardHandler)}
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeString), Fetches: []tcli.TFetchResultsResp{fetchOf(stringColumn(nil, strings.Repeat("x", 2<<20)))}}}}
	cfg := hive.Config{Addr: s.Serve(t, silent), NoSASL: true, MaxReply: 1 << 20}
	for _, logger := range []*slog.Logger{nil, slog.New(slog.NewTextHandler(&own, nil))} {
		cfg.Logger = logger
		c := connect(t, cfg)
		r, err := c.Query(t.Context(), "q")
		if err != nil {
			t.Fatal(err)
		}
		if r.Next() || r.Err() == nil {
			t.Error("a reply over the limit was read")
		}
		r.Close()
		c.Close()
		wrong := cfg
		wrong.NoSASL = false
		if _, err := hive.Connect(t.Context(), wrong); err == nil {
			t.Error("connected")
		}
	}
	if all.Len() > 0 || own.Len() == 0 {
		t.Errorf("%q, Config.Logger %q", all.String(), own.String())
	}
}

// TestTokenNeedsHTTP: a token that would not be sent is an error.
func TestTokenNeedsHTTP(t *testing.T) {
	for _, dsn := range []string{"h?token=secret", "h?token=secret&transport=binary", "h?auth=NOSASL&token=secret"} {
		if _, err := hive.ParseDSN(dsn); err == nil || !strings.Contains(err.Error(), "transport=http") || strings.Contains(err.Error(), "secret") {
			t.Error(dsn, err)
		}
	}
	if cfg, err := hive.ParseDSN("h?token=secret&transport=http"); err != nil || cfg.Token != "secret" {
		t.Error(cfg, err)
	}
	cfg := serve(t, good())
	cfg.Token = "secret"
	if _, err := hive.Connect(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "Config.HTTP") {
		t.Error(err)
	}
}

// TestCanceledFetch: the error of a query whose context has ended says what it was at.
func TestCanceledFetch(t *testing.T) {
	for _, want := range []string{"waiting for a query", "fetching rows"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		q := &fakehive.Query{Schema: schemaOf(hive.TypeBigInt), Fetch: func(_ context.Context, n int, _ int64) tcli.TFetchResultsResp {
			if n == 1 {
				cancel()
			}
			return fetchOf(int64Column(nil, 1))
		}}
		if want == "waiting for a query" {
			q.Status = func(n int, s tcli.TGetOperationStatusResp) {
				if running(n, s); n == 1 {
					cancel()
				}
			}
		}
		r, err := connect(t, serve(t, &fakehive.Server{Queries: map[string]*fakehive.Query{"q": q}})).Query(ctx, "q")
		if err == nil {
			ended(t, "Next", func() {
				for r.Next() {
				}
			})
			err = r.Err()
			r.Close()
		}
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// TestResetSession: a pool's connection keeps its session, or gets a new one if that is asked for.
func TestResetSession(t *testing.T) {
	for _, reset := range []bool{false, true} {
		s := clocks(nil, noon)
		s.Queries["USE other"] = &fakehive.Query{}
		s.Queries["ping"] = &fakehive.Query{}
		dsn := "hive://" + s.Serve(t, &rpc.Server{}) + "/?auth=NOSASL"
		if reset {
			dsn += "&resetSession=true"
		}
		db, err := sql.Open("hive", dsn)
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		for range 3 {
			if _, err := db.Exec("USE other"); err != nil {
				t.Fatal(err)
			}
		}
		want := 1
		if reset {
			want = 3 // the session is new before the second and the third statement
		}
		if n := s.Count("OpenSession"); n != want || s.Sessions() != 1 {
			t.Error(reset, n, "sessions were opened,", s.Sessions(), "are open, want", want)
		}
		for range 3 { // after a reset no statement was run
			if err := db.Ping(); err != nil {
				t.Fatal(err)
			}
		}
		if reset {
			want++ // before the first of them
		}
		if n := s.Count("OpenSession"); n != want {
			t.Error(n, "sessions were opened, want", want)
		}

		// The zone that a statement has changed, as the next use finds it
		if _, err := db.Exec("SET TIME ZONE 'Asia/Tokyo'"); err != nil {
			t.Fatal(err)
		}
		var at sql.NullTime
		err = db.QueryRow("q").Scan(&at)
		if reset && (err != nil || !at.Time.Equal(noon)) || !reset && !errors.Is(err, hive.ErrTimeZone) {
			t.Error(reset, at, err)
		}

		// A server that opens no more sessions
		refuse := errors.New("no more sessions")
		s.Open = func(_ tcli.TOpenSessionReq, resp tcli.TOpenSessionResp) {
			resp.NewStatus().SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
			resp.GetStatus().SetErrorMessage(refuse.Error())
		}
		if _, err := db.Exec("ping"); reset != (err != nil && strings.Contains(err.Error(), refuse.Error())) {
			t.Error(reset, err)
		}
		db.Close()
	}
	if _, err := hive.ParseDSN("h?resetSession=maybe"); err == nil {
		t.Error("maybe")
	}
}
