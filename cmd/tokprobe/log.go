package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kingpin/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logFlags are spelled as in every Prometheus exporter.
type logFlags struct{ level, format string }

func bindLog(clause *kingpin.CmdClause) *logFlags {
	f := &logFlags{}
	enumFlag(clause, &f.level, "log.level", "Least severe level that is logged: debug, info, warn or error.", "info", "debug", "info", "warn", "error")
	enumFlag(clause, &f.format, "log.format", "console or json.", "console", "console", "json")
	return f
}

// logger writes to w. Nothing is sampled away: a line a probe is what a reader
// of the log counts on.
func (f *logFlags) logger(w io.Writer) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(f.level)
	if err != nil {
		return nil, fmt.Errorf("--log.level: %w", err)
	}
	conf := zap.NewProductionEncoderConfig()
	conf.EncodeTime = zapcore.RFC3339TimeEncoder
	conf.EncodeDuration = zapcore.StringDurationEncoder
	conf.TimeKey = "time"
	encoder := zapcore.NewConsoleEncoder(conf)
	if f.format == "json" {
		encoder = zapcore.NewJSONEncoder(conf)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)), nil
}
