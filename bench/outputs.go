package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nocopythrift/nocopythrift/bench/report"
)

// outputs are what is to be made of the results besides the tables; "" is not.
type outputs struct{ json, html, save, compare string }

// check finds out before anything is measured whether the baselines have names, and the one to compare with is there.
func (o outputs) check() error {
	if o.save != "" {
		if err := report.CheckBaselineName(o.save); err != nil {
			return err
		}
	}
	if o.compare == "" {
		return nil
	}
	_, err := report.LoadBaseline(o.compare)
	return err
}

func (o outputs) write(w io.Writer, r report.Report) error {
	if o.compare != "" {
		old, err := report.LoadBaseline(o.compare)
		if err != nil {
			return err
		}
		if err := r.Compare(w, old, o.compare); err != nil {
			return err
		}
	}
	if o.save != "" {
		file, err := report.SaveBaseline(o.save, r)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\nSaved %s; compare with it by  -compare %s\n", file, o.save)
	}
	if o.json != "" {
		if err := create(o.json, r.JSON); err != nil {
			return err
		}
	}
	if o.html != "" {
		return create(o.html, r.HTML)
	}
	return nil
}

func create(file string, write func(io.Writer) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
