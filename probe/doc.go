// Package probe measures one request to an LLM endpoint the way its user feels
// it, and says what a result means.
//
// # Clocks
//
// All durations come from the monotonic clock. t0 is the moment the connection
// is ready to take the request, whether it was opened for it or kept alive from
// an earlier one. Credentials, DNS, TCP and TLS come before t0 and are phases of
// their own, so that a time to first token does not change with the connection
// policy. A read of the body is stamped when it returns, before anything is
// parsed; every event which that read completed has that time.
//
// # Words
//
//   - Token event: an event that carries a non-empty piece of reasoning, answer
//     text or tool-call arguments. A role alone or an empty delta is none.
//   - TTFT: first token event − t0.
//   - First content: first visible answer text − t0. Later than TTFT on models
//     that stream their reasoning.
//   - TPOT: (last − first token event) / (output tokens − 1). Tokens of hidden
//     reasoning (billed, but never streamed) are taken off the output tokens
//     first. Absent unless the outcome is ok, there are two tokens, and a
//     millisecond lies between first and last.
//   - Chunk gap: time between neighbouring token events. It is no inter-token
//     latency: one event may hold several tokens.
//   - E2E: end of the answer − t0, where the end is [DONE], message_stop or the
//     proper end of the body. E2E = TTFT + (N−1)·TPOT + tail.
//   - Coalesced: some read carried at least two token events and more than a
//     tenth of all, so something on the way has buffered.
//   - Output tokens: the count of the last usage object, else the number of
//     token events. There is no tokenizer here.
//
// Worked example: t0 at 0, role event at 40 ms, tokens at 300, 370, 440 and
// 510 ms, [DONE] at 775 ms, usage says 4. TTFT is 300 ms, TPOT (510−300)/3 =
// 70 ms, E2E 775 ms, tail 265 ms.
//
// # Outcomes
//
// Every probe ends as ok or as exactly one class of failure. Each class has a
// kind that says who has to act: the service, the answer, or we ourselves.
package probe
