package probe_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that nothing goes on after the last probe. In the child
// process of a benchmark it is the server instead.
func TestMain(m *testing.M) {
	if os.Getenv(benchEnv) != "" {
		benchServer()
		return
	}
	goleak.VerifyTestMain(m)
}
