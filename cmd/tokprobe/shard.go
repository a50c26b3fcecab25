package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"tokprobe/probe/roster"
)

// podIndex is the environment variable that tells a pod its ordinal. The
// manifests fill it from the label apps.kubernetes.io/pod-index, which
// Kubernetes sets from 1.28 on.
const podIndex = "POD_INDEX"

// parseShard reads --shard. Besides what roster.ParseShard takes, "auto/5"
// stands for the shard of this pod of a StatefulSet of five: the ordinal in
// POD_INDEX, else the one at the end of the host name. Ordinals count from 0 and
// shards from 1, so pod tokprobe-0 runs 1/5.
func parseShard(s string, env func(string) (string, bool), hostname func() (string, error)) (i, n int, err error) {
	total, auto := strings.CutPrefix(s, "auto/")
	if !auto {
		return roster.ParseShard(s)
	}
	if _, n, err = roster.ParseShard("1/" + total); err != nil {
		return 0, 0, fmt.Errorf("shard %q: write auto/ and how many shards there are, such as auto/5", s)
	}
	ordinal, from, err := podOrdinal(env, hostname)
	if err != nil {
		return 0, 0, fmt.Errorf("shard %q: %w", s, err)
	}
	if ordinal >= n {
		// A pod too many owns nothing, and shards that nobody runs are probes
		// that silently stop: replicas and the flag must change together.
		return 0, 0, fmt.Errorf("shard %q: %s says ordinal %d, and ordinals of %d shards end at %d; set the number to the replicas of the StatefulSet", s, from, ordinal, n, n-1)
	}
	return ordinal + 1, n, nil
}

// podOrdinal returns the ordinal of this pod and where it was read.
func podOrdinal(env func(string) (string, bool), hostname func() (string, error)) (int, string, error) {
	// Before 1.28 the label does not exist and the variable is there but empty.
	if v, _ := env(podIndex); v != "" {
		ordinal, err := parseOrdinal(v)
		if err != nil {
			return 0, "", fmt.Errorf("%s is %q; it must be the pod's ordinal, a whole number from 0", podIndex, v)
		}
		return ordinal, podIndex, nil
	}
	host, err := hostname()
	if err != nil {
		return 0, "", fmt.Errorf("%s is not set and the host name is not known: %w", podIndex, err)
	}
	_, suffix, _ := cutLast(host, "-")
	ordinal, err := parseOrdinal(suffix)
	if err != nil {
		return 0, "", fmt.Errorf("%s is not set and the host name %q does not end in an ordinal such as tokprobe-0; run it in a StatefulSet, set %s, or write the shard out as 1/5", podIndex, host, podIndex)
	}
	return ordinal, "the host name " + host, nil
}

// parseOrdinal takes digits only: Atoi alone would take "+1", too.
func parseOrdinal(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if at := strings.LastIndex(s, sep); at >= 0 {
		return s[:at], s[at+len(sep):], true
	}
	return s, "", false
}

// thisShard is parseShard for this process.
func thisShard(s string, c console) (i, n int, err error) {
	return parseShard(s, c.env, os.Hostname)
}
