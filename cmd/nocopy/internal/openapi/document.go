package openapi

// The types of an OpenAPI document, as far as they are used.
type (
	// Doc is a document.
	Doc struct {
		OpenAPI    string                           `json:"openapi"`
		Info       Info                             `json:"info"`
		Servers    []Server                         `json:"servers,omitempty"`
		Tags       []Tag                            `json:"tags,omitempty"`
		Paths      map[string]map[string]*Operation `json:"paths"`
		Components Components                       `json:"components"`
	}
	// Info is about the API.
	Info struct {
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	// Server is where the API is.
	Server struct {
		URL string `json:"url"`
	}
	// Tag is a service.
	Tag struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	// Components are the types.
	Components struct {
		Schemas map[string]*Schema `json:"schemas"`
	}
	// Operation is a method at a path.
	Operation struct {
		OperationID string               `json:"operationId"`
		Tags        []string             `json:"tags"`
		Summary     string               `json:"summary,omitempty"`
		Description string               `json:"description,omitempty"`
		Deprecated  bool                 `json:"deprecated,omitempty"`
		Parameters  []Parameter          `json:"parameters,omitempty"`
		RequestBody *RequestBody         `json:"requestBody,omitempty"`
		Responses   map[string]*Response `json:"responses"`
	}
	// Parameter is a field that is not in the body.
	Parameter struct {
		Name        string  `json:"name"`
		In          string  `json:"in"`
		Description string  `json:"description,omitempty"`
		Required    bool    `json:"required,omitempty"`
		Style       string  `json:"style,omitempty"`
		Explode     *bool   `json:"explode,omitempty"`
		Schema      *Schema `json:"schema,omitempty"`
		// Content has the schema of JSON, instead of Schema.
		Content map[string]Media `json:"content,omitempty"`
	}
	// RequestBody describes the body of a request.
	RequestBody struct {
		Required bool             `json:"required,omitempty"`
		Content  map[string]Media `json:"content"`
	}
	// Response is an answer.
	Response struct {
		Description string            `json:"description"`
		Headers     map[string]Header `json:"headers,omitempty"`
		Content     map[string]Media  `json:"content,omitempty"`
	}
	// Header is a field of a result that is in the header.
	Header struct {
		Description string           `json:"description,omitempty"`
		Schema      *Schema          `json:"schema,omitempty"`
		Content     map[string]Media `json:"content,omitempty"`
	}
	// Media is a body in one form, or JSON in a parameter.
	Media struct {
		Schema   *Schema             `json:"schema,omitempty"`
		Encoding map[string]Encoding `json:"encoding,omitempty"` // of fields of forms
	}
	// Encoding is the type of a value in a form.
	Encoding struct {
		ContentType string `json:"contentType"`
	}
	// Schema is a type: one of JSON Schema, draft 2020-12. AdditionalProperties is a *Schema or
	// false.
	Schema struct {
		Ref                  string             `json:"$ref,omitempty"`
		Description          string             `json:"description,omitempty"`
		Type                 any                `json:"type,omitempty"` // one or several
		Format               string             `json:"format,omitempty"`
		Enum                 []string           `json:"enum,omitempty"`
		Const                string             `json:"const,omitempty"`
		Default              any                `json:"default,omitempty"`
		Minimum              *int64             `json:"minimum,omitempty"`
		Maximum              *int64             `json:"maximum,omitempty"`
		ContentEncoding      string             `json:"contentEncoding,omitempty"`
		Items                *Schema            `json:"items,omitempty"`
		PrefixItems          []*Schema          `json:"prefixItems,omitempty"`
		MinItems             int                `json:"minItems,omitempty"`
		MaxItems             int                `json:"maxItems,omitempty"`
		Properties           map[string]*Schema `json:"properties,omitempty"`
		Required             []string           `json:"required,omitempty"`
		MaxProperties        int                `json:"maxProperties,omitempty"`
		AdditionalProperties any                `json:"additionalProperties,omitempty"`
		AnyOf                []*Schema          `json:"anyOf,omitempty"`
	}
)
