package gateway

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Outside of bodies, the values of structs, maps, and containers of such are JSON texts, as they
// are for Hertz. Package nocopyjson reads and writes structs. A value of another type is therefore
// the only field of a box.

// boxField is the name of the field of a box.
const boxField = "value"

// boxes has the boxes that were made, for as long as the program runs, as views has.
var boxes = map[boxKey]*thriftimpl.Desc{}

type boxKey struct {
	of *thriftimpl.Desc
	id int16
}

// boxOf returns the box for the values that field id of d has in the view of d.
func boxOf(d *thriftimpl.Desc, id int16) *thriftimpl.Desc {
	views.Lock()
	defer views.Unlock()
	view := makeView(d).desc
	key := boxKey{view, id}
	if made := boxes[key]; made != nil {
		return made
	}
	box := thriftimpl.NewDesc(d.Name())
	box.Define(thriftimpl.FieldDesc{ID: 1, Name: boxField, Type: view.FieldDesc(view.NumberByID(id)).Type, Req: thriftimpl.Optional})
	boxes[key] = box
	return box
}

// fromJSON returns the value that a JSON text at the place p has. It is not set if the text is
// null. An error has the path of the value that is wrong.
func (p *place) fromJSON(text string) (reflection.Value, error) {
	most := limits
	most.MaxDepth -= len(p.ids) - 1
	b := append([]byte(`{"`+boxField+`":`), text...)
	s, err := nocopyjson.UnmarshalAs(p.box, append(b, '}'), most)
	if wrong := (*nocopy.Error)(nil); errors.As(err, &wrong) {
		_, path, _ := strings.Cut(wrong.Path, boxField)
		return reflection.Value{}, &placeError{p.name + path, wrong.Err}
	}
	if err != nil {
		return reflection.Value{}, err
	}
	return reflection.OfStruct(p.box, thriftimpl.Struct(s)).GetByID(1)
}

// setJSON sets the field at the place p to the value that texts have in JSON. For a list or set
// each of them has one or more elements, with or without brackets around them.
func setJSON(msg reflection.Message, p place, texts []string) error {
	if p.typ.WireType() != nocopy.WireList && p.typ.WireType() != nocopy.WireSet {
		v, err := p.fromJSON(texts[0])
		if err == nil && v.IsSet() {
			err = set(msg, p, v)
		}
		return err
	}
	for i, text := range texts {
		if text = strings.TrimSpace(text); !strings.HasPrefix(text, "[") {
			text = "[" + text + "]"
		}
		v, err := p.fromJSON(text)
		if err != nil {
			return err
		}
		if i == 0 {
			if err := set(msg, p, v); err != nil {
				return err
			}
			continue
		}
		field, _ := valueAt(msg, p.ids)
		for _, e := range v.List().All() {
			if err := field.List().Append(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// toJSON returns a value at the place p as JSON.
func (p *place) toJSON(v reflection.Value) (string, error) {
	box := reflection.OfStruct(p.box, thriftimpl.New(p.box))
	if err := box.SetByID(1, v); err != nil {
		return "", err
	}
	b, err := nocopyjson.Marshal(box)
	b = bytes.TrimPrefix(b, []byte(`{"`+boxField+`":`))
	return string(bytes.TrimSuffix(b, []byte("}"))), err
}

// jsonCookie returns the JSON texts of cookies with a name, nil if there are none. In a cookie
// they are escaped, as by encodeURIComponent, or as they are: net/http drops values with quotes.
func jsonCookie(h http.Header, name string) []string {
	for _, line := range h.Values("Cookie") {
		for cookie := range strings.SplitSeq(line, ";") {
			if key, text, ok := strings.Cut(strings.TrimSpace(cookie), "="); ok && key == name {
				if plain, err := url.PathUnescape(text); err == nil && strings.HasPrefix(text, "%") {
					text = plain
				}
				return []string{text}
			}
		}
	}
	return nil
}
