package main

import "github.com/alecthomas/kingpin/v2"

func serveCommand(app *kingpin.Application) command {
	return command{clause: app.Command("serve", "x")}
}
func checkCommand(app *kingpin.Application) command {
	return command{clause: app.Command("check", "x")}
}
