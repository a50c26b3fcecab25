// Command tokprobe watches LLM endpoints from the outside: it sends streaming
// probes on a schedule, measures what a user feels and serves it on /metrics.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kingpin/v2"
)

// Exit statuses of every command.
const (
	exitOK    = 0
	exitFail  = 1 // the thing asked about is not good: a probe failed, a config is wrong
	exitUsage = 2 // the command line is wrong
)

func main() {
	log.SetOutput(stdLog{os.Stderr})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process itself, wherever it hangs.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], console{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.LookupEnv})
	stop()
	os.Exit(code)
}

// console is everything of the outside world that a command talks to.
type console struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) (string, bool)
}

// command is one verb: its flags are bound when it is built, run does the work.
type command struct {
	clause *kingpin.CmdClause
	run    func(context.Context, console) int
}

// run parses args and runs the command they name. It never exits the process.
func run(ctx context.Context, args []string, c console) int {
	app := kingpin.New("tokprobe", "Watches LLM endpoints from the outside: TTFT, TPOT, E2E, tokens and errors of real streams.")
	app.HelpFlag.Short('h')
	app.UsageWriter(c.out).ErrorWriter(c.err)
	exited := false
	app.Terminate(func(int) { exited = true })
	app.Version(versionText())
	app.VersionFlag.Short('V')

	commands := []command{
		serveCommand(app),
		probeCommand(app),
		sweepCommand(app),
		planCommand(app),
		checkCommand(app),
		simCommand(app),
		rulesCommand(app),
		dashboardsCommand(app),
	}
	args, parsed := joinNegatives(app, args)
	name, err := app.Parse(args)
	if exited { // --help or --version has printed what was asked for
		return exitOK
	}
	if err == nil {
		err = emptyFlag(parsed)
	}
	if err != nil {
		fmt.Fprintf(c.err, "tokprobe: %v\nTry 'tokprobe --help'.\n", err)
		return exitUsage
	}
	for _, cmd := range commands {
		if cmd.clause.FullCommand() == name {
			return cmd.run(ctx, c)
		}
	}
	return exitUsage
}

// joinNegatives writes --rate -1 as --rate=-1. kingpin takes the -1 for a short
// flag and says that --rate lacks its argument, which is not what is wrong with
// it; joined, the flag itself says which values it takes.
// The context is nil where something else is wrong with args.
func joinNegatives(app *kingpin.Application, args []string) ([]string, *kingpin.ParseContext) {
	for {
		parsed, err := app.ParseContext(args)
		if err == nil {
			return args, parsed
		}
		name, ok := strings.CutPrefix(err.Error(), "expected argument for flag '")
		name = strings.TrimSuffix(name, "'")
		at := -1
		for i := 0; ok && at < 0 && i+1 < len(args); i++ {
			if args[i] == name && negative(args[i+1]) {
				at = i
			}
		}
		if at < 0 {
			return args, nil
		}
		args = slices.Replace(slices.Clone(args), at, at+2, args[at]+"="+args[at+1])
	}
}

// negative tells -1 and -.5 from flags.
func negative(s string) bool {
	rest, ok := strings.CutPrefix(s, "-")
	rest = strings.TrimPrefix(rest, ".")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

// emptyFlag refuses --model "" and its like: what a script makes of a variable
// that is not set would else pass for a flag that was left out, and another
// model or prompt would be measured than was meant.
func emptyFlag(parsed *kingpin.ParseContext) error {
	for _, e := range parsed.Elements {
		if flag, ok := e.Clause.(*kingpin.FlagClause); ok && e.Value != nil && strings.TrimSpace(*e.Value) == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", flag.Model().Name)
		}
	}
	return nil
}

// within is f, but for what it waits for: a pipe that nobody writes to cannot be
// interrupted otherwise. What f still does then is lost with the process.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := f()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.v, o.err
	case <-ctx.Done():
		var none T
		return none, errors.New("interrupted before anything was sent")
	}
}

// usageError is a mistake in the command line that parsing cannot see.
type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// fail prints err the one way every command does and returns its exit status.
func fail(c console, err error) int {
	fmt.Fprintf(c.err, "tokprobe: %v\n", err)
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFail
}
