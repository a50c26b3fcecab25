package exporter

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func newMetricsHandler(e *Exporter) http.Handler {
	return promhttp.HandlerFor(e, promhttp.HandlerOpts{})
}
