package cupelotel

import (
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel/observe"
	"go.opentelemetry.io/otel/attribute"
)

// strategyKeys returns the key of the time of each strategy: strategyTimePrefix and
// the types from the pipeline's own strategy down, without their packages, such as
// "Composite.Recency". Of several parts with one name, the second is called
// "Recency.2".
func strategyKeys(list []observe.StrategyTime) []string {
	keys := make([]string, len(list))
	for i := range list {
		name, same := bareType(list[i].Strategy), 1
		for j := range i {
			if list[j].Parent == list[i].Parent && bareType(list[j].Strategy) == name {
				same++
			}
		}
		if same > 1 {
			name += "." + strconv.Itoa(same)
		}
		if parent := list[i].Parent; parent >= 0 {
			keys[i] = keys[parent] + "." + name
		} else {
			keys[i] = strategyTimePrefix + name
		}
	}
	return keys
}

// bareType returns the name of a Go type without its package and type arguments.
func bareType(name string) string {
	name, _, _ = strings.Cut(name, "[")
	name, _, _ = strings.Cut(name, " ") // an anonymous struct
	return strings.TrimPrefix(name[strings.LastIndexByte(name, '.')+1:], "*")
}

// appendStrategies appends the times of a stage's strategies.
func appendStrategies(attrs []attribute.KeyValue, list []observe.StrategyTime) []attribute.KeyValue {
	for i, key := range strategyKeys(list) {
		attrs = append(attrs, attribute.Float64(key, list[i].Duration.Seconds()))
	}
	return attrs
}
