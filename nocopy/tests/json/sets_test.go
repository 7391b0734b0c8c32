package nocopyjson_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/json/shop"
)

const setsIDL = `
enum E { A = 1, B = 2 }
struct K { 1: optional i32 a, 2: optional set<string> names }
struct S {
  1: set<i64> numbers, 2: set<string> words, 3: set<binary> blobs, 4: set<double> reals, 5: set<E> enums, 6: set<bool> flags,
  7: set<K> structs, 8: set<list<i32>> lists, 9: set<set<i32>> sets, 10: set<map<i32,string>> maps, 11: set<uuid> ids,
  12: list<set<i32>> many, 13: map<string,set<i32>> named, 14: list<i32> list
}`

// TestSets: elements of a set that come again are left out, in whatever form they are written, as
// setters of sets do. The first one stays. Lists keep theirs.
func TestSets(t *testing.T) {
	s, err := dynamic.LoadText(map[string]string{"sets.thrift": setsIDL})
	if err != nil {
		t.Fatal(err)
	}
	typ, _ := s.Struct("S")
	var many, manyWant []string
	for i := range 3000 {
		many = append(many, fmt.Sprint(i%1000), `"7"`)
	}
	for i := range 1000 {
		if i == 0 {
			manyWant = append(manyWant, "0", "7")
		} else if i != 7 {
			manyWant = append(manyWant, fmt.Sprint(i))
		}
	}
	for in, want := range map[string]string{
		`{"numbers":[1,"1",1.0,10e-1,2]}`:               `{"numbers":[1,2]}`,
		`{"numbers":[]}`:                                `{"numbers":[]}`,
		`{"numbers":[` + strings.Join(many, ",") + `]}`: `{"numbers":[` + strings.Join(manyWant, ",") + `]}`,
		`{"words":["a","b","\u0061","","",  "b"]}`:      `{"words":["a","b",""]}`,
		`{"blobs":["AA==","AA","\nAA==","AQ"]}`:         `{"blobs":["AA==","AQ=="]}`,
		`{"reals":[1,1.0,"1","NaN","NaN",0,-0]}`:        `{"reals":[1,"NaN",0,-0]}`,
		`{"enums":["A",1,"B","2",2]}`:                   `{"enums":["A","B"]}`,
		`{"flags":[true,false,"true",false]}`:           `{"flags":[true,false]}`,
		`{"structs":[{},{"a":1},{},{"a":null},{"a":"1"},{"names":["x","x"]},{"names":["x"]}]}`: `{"structs":[{},{"a":1},{"names":["x"]}]}`,
		`{"lists":[[1,1],[1,1],[1]]}`:              `{"lists":[[1,1],[1]]}`,
		`{"sets":[[1,1],[1],[],[2,1,2]]}`:          `{"sets":[[1],[],[2,1]]}`,
		`{"maps":[{"1":"a"},{"1":"a"},{"2":"a"}]}`: `{"maps":[{"1":"a"},{"2":"a"}]}`,
		`{"ids":["00112233-4455-6677-8899-AABBCCDDEEFF","00112233-4455-6677-8899-aabbccddeeff"]}`: `{"ids":["00112233-4455-6677-8899-aabbccddeeff"]}`,
		`{"many":[[1,1],[1,1]],"named":{"a":[2,2],"b":[2,2]},"list":[3,3]}`:                       `{"many":[[1],[1]],"named":{"a":[2],"b":[2]},"list":[3,3]}`,
	} {
		// Read at once, and by the tokenizer
		for _, text := range []string{in, strings.Replace(in, "{", "{ \"\\u006eo such\" : 0, ", 1)} {
			m, err := typ.FromJSON([]byte(text), nocopyjson.AllowUnknown)
			if err != nil {
				t.Errorf("%.200s: %v", text, err)
				continue
			}
			got, err := nocopyjson.Marshal(m)
			if err != nil || string(got) != want {
				t.Errorf("%.200s: %.300s, %v, want %.300s", text, got, err, want)
			}
			again, err := typ.Parse(m.Message().AppendTo(nil))
			if err != nil || again.String() != m.String() {
				t.Errorf("%.200s: sent it is %v, %v", text, again, err)
			}
			m.Release()
			again.Release()
		}
	}
	_, err = typ.FromJSON([]byte(`{"numbers":[1,1,1,"x"]}`))
	if err == nil || !strings.HasPrefix(err.Error(), "nocopy: S.numbers[3]: ") {
		t.Errorf("an error names the element in the text: %v", err)
	}
}

// TestUnknownHints: the error of an unknown name quotes the nearest field, and names the option
// that skips unknown fields. Unwrap leaves the option out.
func TestUnknownHints(t *testing.T) {
	const option = "; nocopyjson.AllowUnknown skips unknown fields"
	for text, want := range map[string]string{
		`{"numbrs":[]}`:                          `nocopy: Item: offset 1: unknown field: "numbrs" (did you mean "numbers"?)`,
		`{"Text":""}`:                            `nocopy: Item: offset 1: unknown field: "Text" (did you mean "text"?)`,
		`{"entirely different":1}`:               `nocopy: Item: offset 1: unknown field: "entirely different"`,
		`{"inner":{"lmit":1}}`:                   `nocopy: Item.inner: offset 10: unknown field: "lmit" (did you mean "limit"?)`,
		`{"items":[{},{"point":{"x":1,"z":1}}]}`: `nocopy: Item.items[1].point: offset 29: unknown field: "z"`,
	} {
		var m shop.Item
		err := nocopyjson.Unmarshal([]byte(text), &m)
		if err == nil || err.Error() != want+option {
			t.Errorf("%s: %v\nwant %s", text, err, want+option)
		}
		var bad *nocopy.Error
		if !errors.Is(err, nocopyjson.ErrUnknownField) || !errors.As(err, &bad) || !strings.HasSuffix(want, ": "+errors.Unwrap(bad.Err).Error()) {
			t.Errorf("%s: %v", text, err)
		}
		if err := nocopyjson.Unmarshal([]byte(text), &m, nocopyjson.AllowUnknown); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		m.Release()
	}
	// A long name, and very many fields, take little time
	if err := nocopyjson.Unmarshal([]byte(`{"`+strings.Repeat("numbers", 100_000)+`":1}`), new(shop.Item)); !errors.Is(err, nocopyjson.ErrUnknownField) || len(err.Error()) > 300 {
		t.Errorf("%.500v", err)
	}
}

// TestNoText: an empty text has no bytes.
func TestNoText(t *testing.T) {
	var m shop.Item
	for text, want := range map[string]string{"": "nocopy: Item: offset 0: no bytes: unexpected EOF", " ": "nocopy: Item: offset 1: unexpected EOF"} {
		err := nocopyjson.Unmarshal([]byte(text), &m)
		if err == nil || err.Error() != want || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
