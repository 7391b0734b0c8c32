# What one does with this repository. CI runs .ci/run, which calls some of these.

FUZZTIME ?= 20s

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

gen: ## writes all generated files anew
	go generate ./...

checkgen: gen ## fails, showing the difference, if generated files are not fresh
	@git diff --exit-code -- $$(git grep -lE '^// Code generated .* DO NOT EDIT' -- '*.go' | grep -v '^bench/')

test: ## runs all tests
	go test ./...

race: ## the same with the race detector
	go test -race ./...

nounsafe: ## the same with safe twins in the place of every use of unsafe
	go test -tags nounsafe ./...

fuzz: ## runs every fuzz target for FUZZTIME
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

bench: ## measures against the peers (minutes); ARGS="-quick" for less
	go run -C bench . $(ARGS)

lint: ## gofmt and vet
	@test -z "$$(git ls-files '*.go' | xargs gofmt -l)" || { git ls-files '*.go' | xargs gofmt -l; exit 1; }
	go vet ./...

.PHONY: help gen checkgen test race nounsafe fuzz bench lint
