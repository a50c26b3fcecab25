// Package sim is a simulated inference endpoint: continuous batching with a
// prefill rate, a decode time that grows with the batch, a slot limit and a
// queue; three dialects, quotas, a prefix cache, vLLM-named metrics, and
// faults that are switched while it runs. It keeps its own truth about every
// request (Records, Stats), so that a prober can be compared with it.
//
// A Server is an http.Handler. It runs on a listener (Serve), or in memory
// (Transport), where it needs no sockets and works in testing/synctest
// bubbles: all its waiting is time.Timer on the standard clock.
//
// How time passes in a model, with the numbers of sim-fast (Decode 8 ms,
// DecodeSlope 100 µs, PrefillRate 8,000 tokens/s): the engine advances in steps,
// and every sequence in the batch gets one token a step. A step lasts
//
//	Decode + DecodeSlope × sequences in the batch + prompt tokens prefilled in it / PrefillRate
//
// A prompt of 80 tokens on an idle model: 8 + 0.1 + 10 = 18.1 ms to the first
// token, then 8.1 ms a token. With 32 sequences a step lasts 11.2 ms, so the
// model makes 2,857 tokens/s; a 33rd request waits in the queue for a slot.
// Step ends are an absolute schedule: a late wake-up does not shift the next.
package sim
