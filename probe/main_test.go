package probe_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that nothing goes on after the last probe.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
