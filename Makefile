# Targets that concern Go code loop over the modules of go.work and stop at the
# first one that fails, with its name; none lists modules by hand.

# A GOWORK=off of the caller would hide the modules from the loops.
export GOWORK := $(CURDIR)/go.work

EACH  := scripts/each.sh
TOOLS := GOWORK=off go -C tools

# Settings that the command line may change: make bench COUNT=10 BENCH=Knapsack
BENCH     ?= .
COUNT     ?= 6
FUZZTIME  ?= 30s
COVER_MIN ?= 95
TESTFLAGS ?=
BASE      ?= main
PACKAGES  ?=
PROFILE   ?=

.DEFAULT_GOAL := help

##@ Use

.PHONY: help
help: ## Show this help
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nSettings: BENCH=%s COUNT=%s FUZZTIME=%s COVER_MIN=%s TESTFLAGS=%s BASE=%s PACKAGES=%s\n' \
		'$(BENCH)' '$(COUNT)' '$(FUZZTIME)' '$(COVER_MIN)' '$(TESTFLAGS)' '$(BASE)' '$(PACKAGES)'

.PHONY: run
run: export Q ?= How does a QuotaSlice share the budget between kinds?
run: ## Choose what a coding agent sees of this repository: make run Q="Where is a budget validated?"
	@mkdir -p build
	go run ./examples/coding-agent -page build/context.html "$$Q"
	@echo 'build/context.html shows the same in a browser.'

# A dot for each package that is compiled, since the first build takes a minute.
# What fails to compile is shown by the command that follows.
.PHONY: build-example
build-example:
	@printf 'building the example ' >&2
	@go build -v -o /dev/null ./examples/otel-jaeger 2>&1 | while read -r _; do printf . >&2; done; echo >&2

# Both use the variables that OpenTelemetry gives every program, OTEL_….
.PHONY: trace
trace: build-example ## Show a coding agent's selections as traces in the terminal
	go run ./examples/otel-jaeger

.PHONY: trace-jaeger
trace-jaeger: build-example ## The same, and send them to the Jaeger of docker compose up -d
	OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 go run ./examples/otel-jaeger

.PHONY: trace-phoenix
trace-phoenix: build-example ## The same, and send them to a Phoenix that phoenix serve started
	OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:6006 go run ./examples/otel-jaeger

.PHONY: page
page: ## Bundle the inspector's page from its sources, cupelinspect/page/src
	@scripts/page.sh cupelinspect/page/page.js

.PHONY: screenshots
screenshots: ## Take the pictures of the inspector in docs/inspector again (needs Chromium)
	CUPEL_SCREENSHOTS=docs/inspector go test -count=1 -v -run '^TestScreenshots$$' ./e2e/inspector

# Recorded conversations, one per line.
AGENTS ?= cupelsession/replay/testdata/agents.jsonl

.PHONY: replay-table
replay-table: ## Make the README's table from recorded conversations: make replay-table AGENTS='a.jsonl b.jsonl'
	@for file in $(AGENTS); do echo "$$file"; \
		go run ./cmd/cupel replay --data "$$file" --share 0.25 -p newest -p clear || exit; \
		go run ./cmd/cupel replay --data "$$file" --share 0.25 -p agent --session || exit; done

##@ Test

.PHONY: test
test: ## Run every test with few random cases, and all vectors (two cores: under a minute)
	@$(MAKE) --no-print-directory test-full TESTFLAGS='-short $(TESTFLAGS)'

.PHONY: test-full
test-full: ## The same with all random cases, as .ci/run --full does (two cores: two minutes)
	@PROFILE='$(PROFILE)' CUPEL_E2E_CHROMIUM=none scripts/test.sh $(TESTFLAGS)
	@$(MAKE) --no-print-directory vectors
	@echo 'make e2e tests the page of the inspector in a browser, and traces with the real Jaeger.'

.PHONY: test-long
test-long: ## Run the largest random tests: 20,000 sessions, 100,000 turns
	@CUPEL_LONG=1 go test -count=1 -timeout 60m -run '^(TestModel|TestManyTurns|TestFollowedIsFresh|TestWrittenBodiesPass)$$' \
		./cupelsession ./cupelrelevance ./cupelchat

# The release of Go that the core names in its go.mod; the go command gets it.
.PHONY: oldest
oldest: ## Vet and test the core with the oldest Go release that it supports
	@cd cupel && export GOWORK=off GOTOOLCHAIN=go$$(sed -n 's/^go //p' go.mod) && \
		go version && go vet ./... && go test -short ./...

.PHONY: vectors
vectors: ## Run the conformance vectors through the command
	go run ./conformance/cmd/cupel-conformance conformance/required conformance/optional conformance/units

.PHONY: race
race: ## Run the tests with the race detector (needs a C compiler)
	@command -v $$(go env CC) >/dev/null || { \
		echo "make race needs a C compiler: the race detector is linked through cgo, and go env CC names '$$(go env CC)', which is not installed" >&2; \
		exit 1; }
	@# What runs in the browser is the same without the detector.
	@CGO_ENABLED=1 CUPEL_E2E_CHROMIUM=none $(EACH) go test -race -short -timeout 30m $(TESTFLAGS) ./...

.PHONY: race-short
race-short: ## The same for packages that start goroutines
	@CGO_ENABLED=1 CUPEL_E2E_CHROMIUM=none $(EACH) "$(CURDIR)/scripts/race.sh" $(TESTFLAGS)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME
	@FUZZTIME=$(FUZZTIME) $(EACH) "$(CURDIR)/scripts/fuzz.sh"

# With PROFILE=FILE, make test writes the profile that make cover reads.
.PHONY: cover
cover: ## Measure the core's coverage; fail below COVER_MIN percent
	@PROFILE='$(PROFILE)' COVER_MIN=$(COVER_MIN) scripts/cover.sh

# Of whole packages: make mutants PACKAGES='./cupel/slicer ./cupelotel'
.PHONY: mutants
mutants: ## Put faults into the lines changed since BASE, and name those that no test notices
	@BASE='$(BASE)' scripts/mutants.sh $(PACKAGES)

.PHONY: golden
golden: ## Write all golden files and generated pages again; read the difference before you commit it
	@scripts/golden.sh

# A module outside of go.work, so that its dependencies reach no other module.
.PHONY: sdk-test
sdk-test: ## Run agents with the SDKs of OpenAI, Anthropic and Google, go-openai and eino, and test the summaries by them
	@GOWORK=off go -C cupelchat/sdks vet -mod=mod ./...
	@GOWORK=off go -C cupelchat/sdks test -mod=mod -count=1 ./...
	@GOWORK=off go -C cupelsummary vet ./...
	@GOWORK=off go -C cupelsummary test -count=1 ./...

# Apache Beam, in a module with a workspace of its own.
BEAM := GOWORK='$(CURDIR)/cupelbeam/go.work' go -C cupelbeam
.PHONY: corpus
corpus: ## Measure policies on AGENTS with Apache Beam, in this process
	@mkdir -p build
	@$(BEAM) build -o ../build/cupel-beam ./cmd/cupel-beam
	@build/cupel-beam --data '$(AGENTS)' --samples build/samples.jsonl --table build/table.json --force

.PHONY: corpus-time
corpus-time: corpus ## Time cupel replay and cupel-beam on a thousand copies of AGENTS
	@go build -o build/cupel ./cmd/cupel
	@for i in $$(seq 1000); do cat $(AGENTS); done >build/many.jsonl
	@bash -c 'time build/cupel replay build/many.jsonl -p newest --share 0.5' | head -n 1
	@bash -c 'time build/cupel-beam --data build/many.jsonl --policy newest --share 0.5 --table build/table.json --force 2>/dev/null' | head -n 1

# Flink needs Java 17; Maven gets the jars into build/flink.
.PHONY: corpus-test
corpus-test: ## Measure corpora on Prism, in buckets, and on a real Flink whose worker is killed; install cupel-beam as a release
	@if command -v java >/dev/null && command -v mvn >/dev/null; then \
		mvn -B -q -f cupelbeam/flink/pom.xml dependency:copy-dependencies -DoutputDirectory='$(CURDIR)/build/flink'; \
	else \
		echo 'THE TEST ON FLINK DOES NOT RUN: it needs java 17 and mvn' >&2; \
	fi
	@$(BEAM) vet ./...
	@jars='$(CURDIR)/build/flink'; [ -d "$$jars" ] || jars=; \
		CUPEL_FLINK="$$jars" $(BEAM) test -count=1 -timeout 40m -v $(TESTFLAGS) ./...
	@CUPEL_BEAM=1 $(TOOLS) test -count=1 -timeout 30m -v -run '^(TestTidy|TestConsumer|TestConsumerInstall)$$/^cupelbeam$$' ./repo

# Needs Python, and gets the packages into build/chat-types.
.PHONY: chat-types
chat-types: ## Check conversations against the types of OpenAI's and Anthropic's Python packages, and run agents with them through the proxy
	@scripts/chat-types.sh

.PHONY: tools-test
tools-test: ## Test the counting of make budget
	@$(TOOLS) test ./cmd/...

.PHONY: e2e
e2e: ## Run the end-to-end tests, with Chromium and Jaeger; build Jaeger first if it is not there
	@[ -d tools/page/node_modules/axe-core ] || ! command -v npm >/dev/null || npm --prefix tools/page ci --silent
	@jaeger=$$(scripts/jaeger.sh) && CUPEL_E2E_JAEGER="$$jaeger" go test -count=1 -timeout 30m -v ./e2e/...
	@docker compose version >/dev/null 2>&1 && docker info >/dev/null 2>&1 || \
		echo 'NOT RUN: docker compose up, for want of docker compose or a Docker engine.'

# Apart from make e2e, because of the minutes that Prometheus takes to build.
.PHONY: e2e-metrics
e2e-metrics: ## Ask a real Prometheus all that the dashboard asks, and test the alert rules; build Prometheus first if it is not there
	@promtool=$$(scripts/prometheus.sh promtool) && "$$promtool" test rules examples/otel-jaeger/prometheus/alerts_test.yaml
	@prometheus=$$(scripts/prometheus.sh) && CUPEL_E2E_PROMETHEUS="$$prometheus" \
		go test -count=1 -v -run '^TestPrometheus' ./e2e

# Needs Python, which gets Phoenix.
.PHONY: e2e-phoenix
e2e-phoenix: ## Ask a real Phoenix for what it has of the example's traces; install Phoenix first if it is not there
	@phoenix=$$(scripts/phoenix.sh) && CUPEL_E2E_PHOENIX="$$phoenix" \
		go test -count=1 -v -run '^TestPhoenix' ./e2e

# Needs npm, which gets the inspector.
.PHONY: mcp-inspector
mcp-inspector: ## Call the tools of cupel mcp with npm's inspector and the Python client of the Model Context Protocol
	@CUPEL_E2E_INSPECTOR=1 go test -count=1 -v -run '^TestMCP' ./e2e

.PHONY: standalone
standalone: ## Build and vet every module outside the workspace, against a module proxy, and test those with other dependencies there
	@$(TOOLS) test -count=1 -timeout 30m -v -run '^TestStandalone$$' ./repo

.PHONY: consumer
consumer: ## Use the modules from outside the tree, through a module proxy
	@$(TOOLS) test -count=1 -v -run '^Test(Consumer|Guides)' ./repo

.PHONY: consumer-empty
consumer-empty: ## Follow the READMEs and guides and install the commands with empty caches, as on a reader's machine
	@CUPEL_EMPTY_CACHES=1 $(TOOLS) test -count=1 -timeout 30m -v -run '^Test(ConsumerInstall|Guides)$$' ./repo

##@ Check

.PHONY: build
build: ## Build every package
	@$(EACH) go build -o /dev/null ./...

.PHONY: vet
vet: ## Run go vet, which compiles all tests, also for 32-bit processors, macOS and Windows
	@go vet work
	@GOARCH=386 go vet work
	@GOOS=darwin go vet work
	@GOOS=windows go vet work
	@$(TOOLS) vet ./...

.PHONY: fmt-check
fmt-check: ## Fail when a file is not formatted
	@files=$$("$$(go env GOROOT)/bin/gofmt" -s -l .); \
	if [ -n "$$files" ]; then echo "not formatted; run gofmt -s -w on:"; echo "$$files"; exit 1; fi >&2

.PHONY: lint
lint: ## Run golangci-lint and the checks that it cannot make
	@scripts/lint.sh
	@$(TOOLS) test -count=1 -run '^Test(Recipe|Links)' ./repo

# What the code may weigh, in tokens. Deleting is the first tool.
.PHONY: budget
budget: ## Fail when the core, or the whole, has more Go than its budget, or the root exports more
	@printf 'the core: ' && git ls-files 'cupel/*.go' | sed 's|^|../|' | $(TOOLS) run ./cmd/budget -code 99000 -tests 210000
	@printf 'the whole: ' && git ls-files '*.go' | sed 's|^|../|' | $(TOOLS) run ./cmd/budget -code 380000 -tests 570000
	@scripts/root.sh 100 120

.PHONY: page-check
page-check: ## Fail when the inspector's page is not what its sources make
	@scripts/page.sh | cmp - cupelinspect/page/page.js || { echo "cupelinspect/page/page.js is stale; run make page" >&2; exit 1; }

.PHONY: tidy
tidy: ## Tidy the module files, as a module proxy with this tree as the next release sees them
	@CUPEL_TIDY=write $(TOOLS) test -count=1 -run '^TestTidy$$' ./repo
	@GOWORK=off go -C tools mod tidy

.PHONY: tidy-check
tidy-check: ## Fail when module files are not tidy or do not agree
	@$(TOOLS) test -count=1 -run '^(TestTidy|TestModules)$$' ./repo
	@GOWORK=off go -C tools mod tidy -diff
	@$(TOOLS) tool -modfile=multimod.mod multimod verify

.PHONY: compose-check
compose-check: ## Fail when docker-compose.yaml is not valid, or not as documented
	@$(TOOLS) test -count=1 -run '^TestCompose' ./repo
	@if docker compose version >/dev/null 2>&1; then \
		docker compose --profile '*' config --quiet; \
	else \
		echo 'NOT RUN: docker compose config, for want of docker compose. Checked with the library that it uses.'; \
	fi

# Asks vuln.go.dev, so it is no part of .ci/run.
.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities in what each module calls
	@$(EACH) go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

.PHONY: fma-check
fma-check: ## Fail when the core, a scorer or a session has a fused multiply-add
	@scripts/fma-check.sh

.PHONY: ci
ci: ## Run what continuous integration runs; .ci/run --full adds what takes very long
	@bash .ci/run

##@ Release

.PHONY: api
api: ## Show how the API of all modules differs from that of BASE: make api BASE=v0.1.0
	@scripts/api.sh '$(BASE)'

.PHONY: release-prepare
release-prepare: ## Write the versions of versions.yaml where modules require one another, and commit that
	@scripts/release.sh prepare

.PHONY: release-tag
release-tag: ## Make the signed tags of the versions of versions.yaml
	@scripts/release.sh tag

##@ Measure

.PHONY: bench
bench: ## Run the benchmarks COUNT times, for benchstat
	@$(EACH) go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

.PHONY: bench-once
bench-once: ## Run one iteration of every benchmark, the longest left out, to see that it works
	@go test -short -run '^$$' -bench . -benchmem -benchtime 1x \
		$$(git grep -l '^func Benchmark' -- '*_test.go' ':!cupelbeam' ':!cupelchat/sdks' ':!tools' | xargs -n 1 dirname | sort -u | sed 's|^|./|')

# The functions of the standard library, by what their comments say; needs the
# source of the Go installation. Also runs without -v among the tests.
.PHONY: bench-code
bench-code: ## Measure how much of Go's standard library relevance finds by what its functions do
	go -C cupelrelevance/eval test -count=1 -run '^TestMeasureCode$$' -v .

# Folders with other sets are measured as well: make bench-relevance SETS=DIR.
# With MEANS=write the figures are what later changes are held to.
SETS  ?= ../shared/data/evidence
MEANS ?=
.PHONY: bench-relevance
bench-relevance: ## Measure relevance on unlike sets beside BM25 and the latest items; fail when a mean falls
	CUPEL_SETS='$(abspath $(SETS))' CUPEL_MEANS='$(MEANS)' go -C cupelrelevance/eval test -count=1 -timeout 60m -run '^TestMeasureSets$$' -v .

.PHONY: bench-guard
bench-guard: ## Fail when something is much slower than it was, by ratios in one process (needs Chromium)
	CUPEL_BENCH_GUARD=1 go -C internal/naive test -count=1 -run '^TestBenchGuard$$' -v .
	CUPEL_BENCH_GUARD=1 go test -count=1 -run '^TestBenchGuard$$' -v ./cupelrecord
	CUPEL_BENCH_GUARD=1 go -C cupelotel test -count=1 -run '^TestBenchGuard$$' -v .
	CUPEL_BENCH_GUARD=1 go -C cmd/cupel test -count=1 -run '^TestBenchGuard$$' -v ./internal/input
	CUPEL_BENCH_GUARD=1 go -C cupelrelevance test -count=1 -run '^TestHostileTexts$$' -v .
	CUPEL_BENCH_GUARD=1 go -C cupeltiktoken test -short -count=1 -run '^TestHostileInput$$' -v .
	CUPEL_BENCH_GUARD=1 go -C cmd/cupel test -count=1 -run '^TestStartup$$' -v .
	CUPEL_BENCH_GUARD=1 go test -count=1 -timeout 20m -run '^TestTimes$$' -v ./e2e/inspector

.PHONY: benchstat
benchstat: ## Compare two outputs of make bench: make benchstat OLD=a NEW=b
	@test -n '$(OLD)' && test -n '$(NEW)' || { echo "usage: make benchstat OLD=file NEW=file" >&2; exit 2; }
	@"$$($(TOOLS) tool -n benchstat)" "$(OLD)" "$(NEW)"
