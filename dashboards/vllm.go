package dashboards

import c "tokprobe/exporter/catalog"

// Metrics that others export. vLLM renamed some: where two spellings exist
// the boards read both.
const (
	vllmTTFT       = "vllm:time_to_first_token_seconds"
	vllmTPOT       = "vllm:request_time_per_output_token_seconds"
	vllmTPOTOld    = "vllm:time_per_output_token_seconds"
	vllmITL        = "vllm:inter_token_latency_seconds"
	vllmRunning    = "vllm:num_requests_running"
	vllmWaiting    = "vllm:num_requests_waiting"
	vllmCache      = "vllm:kv_cache_usage_perc"
	vllmCacheOld   = "vllm:gpu_cache_usage_perc"
	processCPU     = "process_cpu_seconds_total"
	processMemory  = "process_resident_memory_bytes"
	processFiles   = "process_open_fds"
	processThreads = "go_goroutines"
)

// server selects a vLLM metric of the chosen model, on the servers that the
// board's variable server matches.
func server(name string) string {
	return name + "{" + c.LabelModel + `_name="$model",instance=~"$server"}`
}

// serverMean is the mean of a vLLM histogram over the window, all its traffic.
func serverMean(name string) string {
	return share(c.Sum(c.Rate(server(name+"_sum"), window)), c.Sum(c.Rate(server(name+"_count"), window)))
}

// ours narrows a metric of the Go process to tokprobe's own.
func ours(name string) string {
	return name + " and on (job, instance) " + c.Sel(c.BuildInfo)
}
