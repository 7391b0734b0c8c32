# What one does with this repository. CI runs .ci/run, which calls some of these.

FUZZTIME ?= 20s

# Tests that are about size, time or the compiler: an emulator, some 30 times slower, has nothing to add.
SLOW = Millions|Large|Huge|Hostile|BoundedMemory|Promises|Soak|Retained|Inlin|Faults|Dependencies|ReleaseOrders|Sharing|ManyReferred|OverTheLimit|IndexMemory|Seeded|OneFieldManyTimes|Concurrent

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

gen: ## writes all generated files anew
	go generate ./...
	.ci/parts go generate ./...
	gen/modules.sh

checkgen: gen ## fails, showing the difference, if generated files are not fresh
	@git diff --exit-code -- $$(git grep -lE '^// Code generated .* DO NOT EDIT' -- '*.go' | grep -v '^bench/')

# It builds a program, whose operations count their steps: it takes most of the time.
BUILDING = ^TestHostileSteps$$

# The tests of messages, a folder for each matter (docs/internals.md lists them).
MATTERS = ./limits ./parse ./fields ./elements ./containers ./edits ./handles ./wireindex

freeze: ## makes the folders of generated code of a release, never to be written again: make freeze VERSION=v1.2.0
	gen/freeze.sh $(VERSION)

freeze-again: ## replaces those folders, as long as the version has no tag: make freeze-again VERSION=v1.2.0
	gen/freeze.sh $(VERSION) again

# Compilers take a sixth less time if their collectors run less often. What takes longest is first.
quick: export GOGC = 400
quick: export GOFLAGS += '-toolexec=env GOGC=off GOMEMLIMIT=1GiB'
quick: ## vet, and the tests that notice most mistakes in nocopy and rpc (three minutes of a processor after a change of the engine)
	go vet ./... & vet=$$!; \
	go test -vet=off -skip '$(BUILDING)' ./... && \
	go test -C nocopy/tests -vet=off ./rpc ./model $(MATTERS) ./sessions ./chain && wait $$vet

work: ## writes a go.work, which git ignores: an editor then sees all modules as one project
	rm -f go.work go.work.sum
	go work init
	go work use -r .

test: ## runs all tests
	go test ./...
	.ci/parts go test ./...

check: ## all that must hold before a change lands, with the long forms of tests, as CI runs it (some 40 minutes of a processor, two at a time)
	bash .ci/run

race: ## the same with the race detector
	go test -race ./...
	.ci/parts go test -race ./...

nounsafe: ## the same with safe twins instead of unsafe
	go test -tags nounsafe ./...
	.ci/parts go test -tags nounsafe ./...

debug: ## tests with the tag nocopydebug: stale memory faults, blocks are counted
	NOCOPYDEBUG=missing=0,removed=0 go test -tags nocopydebug ./linkbuf/... ./internal/memory ./internal/chain ./nocopy/...
	NOCOPYDEBUG=missing=0,removed=0 go test -C nocopy/tests -tags nocopydebug ./...
	go test -C gen/internal -tags nocopydebug ./shapes -run '^Test(Missing|Callbacks)$$'
	NOCOPYDEBUG=missing=0,removed=0 go test -C gen/internal -tags nocopydebug ./shapes -run '^Test(Fields|Rows|Plain|Defaults|CompactInLoop)'

# Type-checking takes seconds. Building would compile the standard library for each
# of them. Only byteorder has assembly. Only one example has files for other systems.
cross: ## type-checks for other processors (64 bits, big-endian) and systems, and for 32 bits, where numbers overflow
	@go run -C internal/rehearse ./cross -C ../.. linux/arm64 linux/s390x linux/386 windows/amd64 darwin/arm64 js/wasm wasip1/wasm
	@go run -C internal/rehearse ./cross -C ../../examples/programs/archive windows/amd64
	@go run -C internal/rehearse ./cross -C ../../parquetmeta linux/386
	@go run -C internal/rehearse ./cross -C ../../hive linux/386
	@.ci/parts sh -c 'go run -C $(CURDIR)/internal/rehearse ./cross -C "$$PWD" linux/386'
	@GOARCH=arm64 go build ./internal/byteorder

qemu: ## runs the library's tests on other processors, where qemu-user is installed; 386 on an amd64 as it is
	@for pair in 386: arm64:aarch64 s390x:s390x; do \
		arch=$${pair%%:*}; emulator=$${pair#*:}; \
		if [ "$$emulator" ]; then \
			emulator=$$(command -v qemu-$$emulator) || { echo "no qemu-$${pair#*:}"; continue; }; \
		elif [ "$$(go env GOHOSTARCH)" != amd64 ]; then \
			echo "386 needs an amd64: Go's signals are too much for qemu-i386"; continue; \
		fi; \
		echo "GOARCH=$$arch"; \
		GOARCH=$$arch go test -short -timeout 60m $${emulator:+-exec $$emulator} ./linkbuf/... ./internal/... || exit 1; \
		GOARCH=$$arch go test -C nocopy/tests -short -timeout 60m $${emulator:+-exec $$emulator} ./linkbuf ./chain ./sessions || exit 1; \
		GOARCH=$$arch go test -short -timeout 60m $${emulator:+-exec $$emulator} -skip '$(SLOW)' ./nocopy ./nocopy/internal/... || exit 1; \
		GOARCH=$$arch go test -C nocopy/tests -short -timeout 60m $${emulator:+-exec $$emulator} -skip '$(SLOW)' $(MATTERS) || exit 1; \
		GOARCH=$$arch go test -C nocopy/tests -short -timeout 60m $${emulator:+-exec $$emulator} -skip '$(SLOW)' ./model -model.ops=2000 || exit 1; \
	done

soak: ## 10 million messages of 1 KiB to 8 MiB in each mode; two minutes of calls under the race detector; memory must stay as it is (minutes)
	NOCOPY_SOAK_MESSAGES=10000000 go test -C nocopy/tests -run 'TestSoak$$' -count=1 -v -timeout 60m ./limits
	NOCOPY_SOAK=120s go test -C nocopy/tests -race -run 'TestSoak$$' -count=1 -v -timeout 10m ./rpc

hostile: ## counts the steps of all operations on hostile messages: received in all ways, and large ones, a seventh of the operations at a time (minutes)
	NOCOPY_HOSTILE=ways go test -count=1 -timeout 60m -run 'TestHostileSteps$$' ./nocopy/internal/engine
	NOCOPY_LONG=1 NOCOPY_HOSTILE=large go test -count=1 -timeout 60m -run 'TestHostileSteps$$' ./nocopy/internal/engine

fuzz: ## runs every fuzz target for FUZZTIME, two at a time
	@{ go list -f '{{.Dir}}' ./...; for module in parquetmeta hive; do go list -C $$module -f '{{.Dir}}' .; done; .ci/parts go list -f '{{.Dir}}' ./...; } | while read -r dir; do \
		sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$$dir"/*_test.go 2>/dev/null | sed "s|^|$$dir |"; \
	done | xargs -P 2 -L 1 sh -c 'echo "$$0 $$1"; for try in 1 2; do \
		out=$$(go test -C "$$0" -run "^$$" -fuzz "^$$1$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x -parallel 1 . 2>&1); code=$$?; echo "$$out"; \
		case "$$code $$out" in 0\ *) exit 0;; *"Failing input"*) exit 1;; *"context deadline exceeded"*) ;; *) exit 1;; esac; \
	done; exit 1' # at the end of its time the go command may take an input under way for a failure: once more

mutants: ## takes guards out of the library, one at a time, and reports which test notices (an hour); ARGS="-run NAME" for some
	go run -C internal/rehearse ./mutants $(ARGS)

wild: ## tries nocopyc on the .thrift files of public packages (gen/internal/wild/README.md); needs the network (a minute)
	go run -C gen/internal ./wild

interop: ## Thrift for Java, Node, Rust and C++ against ours (interop/README.md); needs the network at first (minutes)
	cd interop && NOCOPY_INTEROP=1 go test -count=1 -v -timeout 60m .

live: ## our clients, tool and recorder with real servers: Hive, Spark, HBase, Storm, Zipkin (docs/live.md); SYSTEM=hbase for one (minutes)
	./interop/live/live.sh $(SYSTEM)

otel: ## calls from and to Java with OpenTelemetry's agent are one trace; needs Java and Maven (2 minutes)
	./interop/otel/java.sh -v

bench: ## measures against the peers (minutes); ARGS="-quick" for less
	go run -C bench . $(ARGS)

insns: ## counts instructions under valgrind, and compares them with bench/insns/table.txt within 1 % (half a minute)
	go run -C bench ./insns

insns-write: ## writes that table anew
	go run -C bench ./insns -write

rehearse: ## packs the modules as a release, and follows README and docs literally from empty folders (2 minutes)
	go run -C internal/rehearse . $(ARGS)

release-snapshot: ## builds and tries all that a release has, into dist: packages, archives, image (docs/releasing.md); publishes nothing (10 minutes at first)
	go run -C internal/rehearse . -release $(ARGS)

# A module of its own would be one more to keep; the root's requirements are users' requirements.
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.0

api: ## writes exported names that were added to api/next.txt; before a release, RELEASE=v1.0 writes api/v1.0.txt
	NOCOPY_LONG=1 go test -count=1 -v -run '^TestAPI$$' . $(if $(RELEASE),-api.release $(RELEASE),-api.write)

lint: ## gofmt, vet and staticcheck
	@test -z "$$(git ls-files '*.go' | xargs gofmt -l)" || { git ls-files '*.go' | xargs gofmt -l; exit 1; }
	go vet ./...
	.ci/parts go vet ./...
	$(MAKE) -s staticcheck

staticcheck: ## staticcheck (staticcheck.conf has the exceptions); it is downloaded at first
	go run $(STATICCHECK) $$(go list ./... | grep -v /examples/quickstart/apache/)
	.ci/parts go run $(STATICCHECK) ./...

.PHONY: help api gen checkgen freeze freeze-again quick work test check race nounsafe debug cross qemu soak hostile fuzz mutants wild interop live otel bench insns insns-write rehearse release-snapshot lint staticcheck
