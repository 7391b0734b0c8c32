package limit

import "github.com/nocopythrift/nocopythrift/bench/data"

// size returns the size of the message v. With it, a fresh buffer for Append is allocated once.
func size(v any) int {
	switch v := v.(type) {
	case *data.MyTest:
		return 35 + 8*len(v.Nums)
	case *data.Small:
		return 100 + len(v.Service) + len(v.Method) + len(v.Caller) + len(v.SubName) + len(v.SubRegion)
	case *data.Business:
		n := 300 + len(v.Title) + len(v.Region) + len(v.Cluster) + len(v.User.Name) + len(v.User.Email) + len(v.Owner.Name) + len(v.Owner.Email) + len(v.Trailer)
		return n + sizePairs(v.Tags) + sizePairs(v.Extra) + sizeItems(v.Items) + 8*len(v.Nums) + sizeTexts(v.Words)
	case *data.Blob:
		return 37 + len(v.Name) + len(v.Data)
	case *data.VStreamRows:
		n := 16 + len(v.Gtid)
		for i := range v.Rows {
			n += 16 + 8*len(v.Rows[i].Lengths) + len(v.Rows[i].Values)
		}
		return n
	case *data.WriteRequest:
		n := 32
		for i := range v.Series {
			t := &v.Series[i]
			n += 17 + 15*len(t.Labels) + 23*len(t.Samples)
			for j := range t.Labels {
				n += len(t.Labels[j].Name) + len(t.Labels[j].Value)
			}
		}
		return n
	case *data.Wide:
		return sizeWide(v)
	case *data.Catalog:
		return 17 + sizeItems(v.Items) + sizeTexts(v.Words)
	}
	panic("limit: no such message")
}

// editSize returns what the message wire, which is of the type of v, takes at most after the edit.
func editSize(wire []byte, v any) int {
	if v, ok := v.(*data.Wide); ok {
		return len(wire) + (len(v.Rows)/data.WideStep(len(v.Rows))+1)*(7+len(data.EditText))
	}
	return len(wire) + len(data.EditText)
}

func sizeItems(items []data.Item) int {
	n := 48 * len(items)
	for i := range items {
		n += len(items[i].Name) + len(items[i].Desc)
	}
	return n
}

func sizeTexts(texts []string) int {
	n := 4 * len(texts)
	for _, s := range texts {
		n += len(s)
	}
	return n
}

func sizePairs(v []data.Pair) int {
	n := 9 + 8*len(v)
	for i := range v {
		n += len(v[i].Key) + len(v[i].Value)
	}
	return n
}
