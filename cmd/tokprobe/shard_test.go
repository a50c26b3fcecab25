package main

import (
	"errors"
	"fmt"
	"testing"
)

func TestParseShard(t *testing.T) {
	tests := []struct {
		give, index, host string
		want              string
	}{
		{"", "", "web-1", "1/1"},
		{"2/5", "4", "tokprobe-4", "2/5"},
		{"auto/5", "0", "", "1/5"},
		{"auto/5", "4", "tokprobe-1", "5/5"},
		{"auto/5", "", "tokprobe-0", "1/5"},
		{"auto/5", "", "a-b-c-3", "4/5"},
		{"auto/1", "", "tokprobe-0", "1/1"},
		{"auto/5", "5", "", `shard "auto/5": POD_INDEX says ordinal 5, and ordinals of 5 shards end at 4; set the number to the replicas of the StatefulSet`},
		{"auto/5", "+1", "", `shard "auto/5": POD_INDEX is "+1"; it must be the pod's ordinal, a whole number from 0`},
		{"auto/5", "", "laptop", `shard "auto/5": POD_INDEX is not set and the host name "laptop" does not end in an ordinal such as tokprobe-0; run it in a StatefulSet, set POD_INDEX, or write the shard out as 1/5`},
		{"auto/5", "", "tokprobe-7d9f5c", `shard "auto/5": POD_INDEX is not set and the host name "tokprobe-7d9f5c" does not end in an ordinal such as tokprobe-0; run it in a StatefulSet, set POD_INDEX, or write the shard out as 1/5`},
		{"auto/5", "", "", `shard "auto/5": POD_INDEX is not set and the host name is not known: no name`},
		{"auto/0", "0", "", `shard "auto/0": write auto/ and how many shards there are, such as auto/5`},
		{"auto/", "0", "", `shard "auto/": write auto/ and how many shards there are, such as auto/5`},
		{"auto/5/6", "0", "", `shard "auto/5/6": write auto/ and how many shards there are, such as auto/5`},
		{"auto", "0", "", `shard "auto": write i/n such as 2/5`},
	}
	for _, tt := range tests {
		env := func(name string) (string, bool) { return tt.index, name == "POD_INDEX" }
		host := func() (string, error) {
			if tt.host == "" {
				return "", errors.New("no name")
			}
			return tt.host, nil
		}
		i, n, err := parseShard(tt.give, env, host)
		got := fmt.Sprintf("%d/%d", i, n)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("parseShard(%q), index %q, host %q:\n got %s\nwant %s", tt.give, tt.index, tt.host, got, tt.want)
		}
	}
}
