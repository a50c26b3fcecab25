package main

import (
	"net"
	"os"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"
	"go.uber.org/zap"

	"tokprobe/exporter/otlp"
)

// otlpFlags are those of the push to an OpenTelemetry receiver.
type otlpFlags struct {
	endpoint, headersFile string
	interval              *time.Duration
}

func bindOTLP(clause *kingpin.CmdClause) *otlpFlags {
	f := &otlpFlags{}
	clause.Flag("otlp.endpoint", "Push measurements to this OpenTelemetry receiver (OTLP/HTTP, JSON); /v1/metrics is appended. Off by default.").PlaceHolder("URL").StringVar(&f.endpoint)
	clause.Flag("otlp.headers-file", "File of \"Name: value\" lines that go with every push, read each time: the place for its key.").PlaceHolder("F").StringVar(&f.headersFile)
	f.interval = durationFlag(clause, "otlp.interval", "Time between two pushes.", otlp.DefaultInterval)
	return f
}

// recorder returns what pushes; nil without an endpoint.
func (f *otlpFlags) recorder(s *serveFlags, d *daemon) (*otlp.Recorder, error) {
	if f == nil || f.endpoint == "" {
		if f != nil && f.headersFile != "" {
			return nil, usagef("--otlp.headers-file needs --otlp.endpoint")
		}
		return nil, nil
	}
	log := d.log.Named("otlp")
	push, err := otlp.New(otlp.Config{
		Endpoint: f.endpoint, HeadersFile: f.headersFile, Interval: *f.interval,
		Resource: otlp.Resource{Version: version.Version, Instance: instance(s.listen), Location: s.location},
		Pushed: func(err error, changed bool) {
			d.exporter.OTLPPushed(err == nil)
			switch {
			case !changed:
			case err != nil:
				log.Warn("push failed; further failures are only counted", zap.Error(err))
			default:
				log.Info("push succeeded")
			}
		},
	})
	if err != nil {
		return nil, usagef("%v", err)
	}
	log.Info("measurements are pushed", zap.String("to", push.Host()), zap.Duration("interval", *f.interval))
	return push, nil
}

// instance is host:port as Prometheus names instances: two daemons of one
// machine listen on different ports.
func instance(listen []string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	if len(listen) > 0 {
		if _, port, err := net.SplitHostPort(listen[0]); err == nil {
			return net.JoinHostPort(host, port)
		}
	}
	return host
}
