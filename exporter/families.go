package exporter

import (
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
)

// family numbers the metrics of one probe.
type family int

const (
	famDue family = iota
	famStarted
	famProbes
	famSkipped
	famLagSuspect
	famSuccess
	famLastRun
	famLastSuccess
	famInterval
	famTimeout
	famRecentFailures
	famTTFT
	famFirstContent
	famE2E
	famTPOT
	famChunkGap
	famWindow
	famWindowSamples
	famLastTTFT
	famLastTPOT
	famLastE2E
	famLastTail
	famLastOutputRate
	famLastPromptTokens
	famLastPhase
	famTokens
	famCost
	famCoalesced
	famStale
	famCacheSuspect
	famPromptChanged
	famSLOEvents
	famSLOObjective
	famSLOThreshold
	numFamilies
)

var familyNames = [numFamilies]string{
	famDue: catalog.ProbesDue, famStarted: catalog.ProbesStarted, famProbes: catalog.Probes,
	famSkipped: catalog.ProbesSkipped, famLagSuspect: catalog.ProbesLagSuspect,
	famSuccess: catalog.ProbeSuccess, famLastRun: catalog.LastRun, famLastSuccess: catalog.LastSuccess,
	famInterval: catalog.Interval, famTimeout: catalog.Timeout, famRecentFailures: catalog.RecentFailures,
	famTTFT: catalog.TTFT, famFirstContent: catalog.FirstContent, famE2E: catalog.E2E,
	famTPOT: catalog.TPOT, famChunkGap: catalog.ChunkGap,
	famWindow: catalog.Window, famWindowSamples: catalog.WindowSamples,
	famLastTTFT: catalog.LastTTFT, famLastTPOT: catalog.LastTPOT, famLastE2E: catalog.LastE2E,
	famLastTail: catalog.LastTail, famLastOutputRate: catalog.LastOutputRate,
	famLastPromptTokens: catalog.LastPromptTokens, famLastPhase: catalog.LastPhase,
	famTokens: catalog.Tokens, famCost: catalog.Cost,
	famCoalesced: catalog.StreamsCoalesced, famStale: catalog.StaleConnections,
	famCacheSuspect: catalog.CacheSuspect, famPromptChanged: catalog.PromptTokenChange,
	famSLOEvents: catalog.SLOEvents, famSLOObjective: catalog.SLOObjective, famSLOThreshold: catalog.SLOThreshold,
}

// labelSet is one series' labels, sorted by name as the exposition wants them.
type labelSet []*dto.LabelPair

// labeller builds label sets out of shared pairs: `outcome="ok"` exists once
// for a thousand probes.
type labeller struct {
	families [numFamilies]catalog.Metric
	pairs    map[[2]string]*dto.LabelPair
}

func newLabeller() *labeller {
	l := &labeller{pairs: map[[2]string]*dto.LabelPair{}}
	for f, name := range familyNames {
		l.families[f] = catalog.MustLookup(name)
	}
	return l
}

// pair returns the shared pair; a value that is no UTF-8 is mended since one
// such byte would spoil the whole page.
func (l *labeller) pair(name, value string) *dto.LabelPair {
	key := [2]string{name, value}
	p, ok := l.pairs[key]
	if !ok {
		p = &dto.LabelPair{Name: new(name), Value: new(strings.ToValidUTF8(value, "\uFFFD"))}
		l.pairs[key] = p
	}
	return p
}

// base returns the labels every series of a probe carries.
func (l *labeller) base(id probe.ID) labelSet {
	return labelSet{
		l.pair(catalog.LabelModel, id.Model), l.pair(catalog.LabelProbe, id.Probe), l.pair(catalog.LabelTarget, id.Target),
	}
}

// with returns base and more labels, given as name, value, name, value, sorted.
func (l *labeller) with(base labelSet, more ...string) labelSet {
	set := make(labelSet, len(base), len(base)+len(more)/2)
	copy(set, base)
	for i := 0; i < len(more); i += 2 {
		set = append(set, l.pair(more[i], more[i+1]))
	}
	slices.SortFunc(set, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	return set
}

// all returns the label sets of every enumerable series of a family, in the
// order of the closed lists, the last label changing fastest. It returns none
// for a family that also has labels without a list (slo, currency).
func (l *labeller) all(f family, base labelSet) []labelSet {
	m := l.families[f]
	rows := [][]string{nil}
	for _, label := range m.Labels[3:] {
		var next [][]string
		for _, row := range rows {
			for _, value := range m.Enum[label] {
				next = append(next, append(slices.Clone(row), label, value))
			}
		}
		rows = next
	}
	sets := make([]labelSet, len(rows))
	for i, row := range rows {
		sets[i] = l.with(base, row...)
	}
	return sets
}
