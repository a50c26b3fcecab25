package sweep

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(benchEnv) != "" {
		benchServer()
		return
	}
	goleak.VerifyTestMain(m)
}
