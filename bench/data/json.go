package data

// JSON is workload J: a message that is converted to JSON and from it.
type JSON struct {
	Of any // a message of another workload
}

// jsons is workload J.
func jsons(all []Workload) (w []Workload) {
	for _, of := range all {
		switch of.Name {
		case "B", "C1K", "C20K", "C256K":
			w = append(w, Workload{
				Name: "J-" + of.Name, About: of.About + ", and JSON",
				Kind: (*JSON)(nil), New: func() any { return &JSON{of.New()} },
			})
		}
	}
	return w
}
