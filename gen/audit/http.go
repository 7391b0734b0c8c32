package audit

import (
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// The annotations for HTTP, as package gateway, Kitex and Hertz have them.
var (
	verbs  = []string{"api.get", "api.post", "api.put", "api.delete", "api.patch", "api.options", "api.head", "api.any"}
	places = []string{"api.path", "api.query", "api.header", "api.cookie", "api.form", "api.body", "api.raw_body", "api.http_code", "api.js_conv", "api.none"}
)

// routes adds a finding for each HTTP route that a method has lost.
func (c *comparer) routes(f, g *schema.Function, at change) {
	now := httpTexts(g.Annotations, verbs)
	for _, route := range httpTexts(f.Annotations, verbs) {
		if !slices.Contains(now, route) {
			c.add(Error, "route-removed", JSON, at, "method %s is no longer at %s", f.Name, route)
		}
	}
}

// httpPlace adds a finding if a field is at another place in HTTP requests or answers.
func (c *comparer) httpPlace(f, g *schema.Field, of fieldsOf, at change) {
	was, is := httpTexts(f.Annotations, places), httpTexts(g.Annotations, places)
	if !slices.Equal(was, is) {
		c.add(Warning, "http-place-changed", JSON, at, "field %d %s of %s changed in HTTP from %s to %s", f.ID, f.Name, of.name, listed(was), listed(is))
	}
}

// httpTexts returns the annotations with some keys, in the form for messages.
func httpTexts(all schema.Annotations, keys []string) (texts []string) {
	for _, a := range all {
		if slices.Contains(keys, a.Key) {
			texts = append(texts, a.Key+" = "+a.Value)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// listed returns texts as one, "none" without any.
func listed(texts []string) string {
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
