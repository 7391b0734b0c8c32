package lsp

import "strings"

// annotation is a key that some generator knows.
type annotation struct{ key, doc string }

// annotations are those of nocopythrift, Kitex (thriftgo) and Hertz.
var annotations = []annotation{
	{"go.tag", "Tags of the struct field in Go, such as json:\"name\" (Kitex, nocopythrift)."},
	{"nocopy.redact", "The value is not shown in logs and dumps (nocopythrift)."},
	{"nolint", "Rules of nocopy lint that are switched off for the declaration."},
	{"example", "A value for mocks and documentation (nocopy mock)."},
	{"deprecated", "The declaration should not be used any more."},
	{"streaming.mode", "The kind of a streaming method: bidirectional, client, server or unary (Kitex)."},
	{"thrift.expand", "Fields of the struct are those of the outer one (thriftgo)."},
	{"expandable", "Fields of other structs may be expanded into the outer one (thriftgo)."},

	{"vt.const", "The value is this one."},
	{"vt.lt", "The value is less."},
	{"vt.le", "The value is less or equal."},
	{"vt.gt", "The value is greater."},
	{"vt.ge", "The value is greater or equal."},
	{"vt.in", "The value is one of these; may be repeated."},
	{"vt.not_in", "The value is none of these; may be repeated."},
	{"vt.not_nil", "The field is set."},
	{"vt.min_size", "The least number of bytes or elements."},
	{"vt.max_size", "The greatest number of bytes or elements."},
	{"vt.min_rune_size", "The least number of characters."},
	{"vt.max_rune_size", "The greatest number of characters."},
	{"vt.pattern", "A regular expression that the text matches."},
	{"vt.prefix", "The beginning of the text."},
	{"vt.suffix", "The end of the text."},
	{"vt.contains", "The text contains this one."},
	{"vt.not_contains", "The text does not contain this one."},
	{"vt.defined_only", "The enum's value is declared."},
	{"vt.no_sparse", "No element of the list or value of the map is absent."},
	{"vt.skip", "The struct's own rules are not applied."},
	{"vt.assert", "An expression that is true, such as @lt($a, $b)."},
	{"vt.elem.", "A rule for each element, such as vt.elem.min_size."},
	{"vt.key.", "A rule for each key of the map."},
	{"vt.value.", "A rule for each value of the map."},

	{"api.get", "The path for GET (Hertz)."},
	{"api.post", "The path for POST (Hertz)."},
	{"api.put", "The path for PUT (Hertz)."},
	{"api.delete", "The path for DELETE (Hertz)."},
	{"api.patch", "The path for PATCH (Hertz)."},
	{"api.head", "The path for HEAD (Hertz)."},
	{"api.options", "The path for OPTIONS (Hertz)."},
	{"api.any", "The path for all methods of HTTP (Hertz)."},
	{"api.query", "The field is this parameter of the query (Hertz)."},
	{"api.path", "The field is this part of the path (Hertz)."},
	{"api.header", "The field is this header (Hertz)."},
	{"api.cookie", "The field is this cookie (Hertz)."},
	{"api.body", "The field is this key of the body (Hertz)."},
	{"api.form", "The field is this one of the form (Hertz)."},
	{"api.raw_body", "The field is the body as it is (Hertz)."},
	{"api.file_name", "The field is this file of the form (Hertz)."},
	{"api.none", "The field is not in the request or the response (Hertz)."},
	{"api.js_conv", "The integer is a text in JSON (Hertz)."},
	{"api.http_code", "The field is the status of the response (Hertz)."},
	{"api.vd", "An expression that the field's value must meet (Hertz)."},
	{"api.serializer", "The form of the body: json, form, thrift or pb (Hertz)."},
	{"api.param", "The parameters of the request are checked (Hertz)."},
	{"api.baseurl", "The address of the service, for clients (Hertz)."},
	{"api.version", "The version of the method (Hertz)."},
	{"api.category", "The folder of the handler (Hertz)."},
	{"api.handler_path", "The path of the handler's package (Hertz)."},
	{"api.gen_path", "The path of the generated handler (Hertz)."},
	{"api.tag", "Tags of the method in the documentation (Hertz)."},
	{"api.base_domain", "The domain of the service, for clients (Hertz)."},
}

// annotationDoc returns what is known of an annotation's key; "" if that is nothing.
func annotationDoc(key string) string {
	doc := ""
	for _, a := range annotations {
		if a.key == key {
			return "`" + a.key + "`: " + a.doc
		}
		if strings.HasSuffix(a.key, ".") && strings.HasPrefix(key, a.key) {
			doc = "`" + key + "`: " + a.doc
		}
	}
	return doc
}
