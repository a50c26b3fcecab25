package configs

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// KeyError says what is wrong with a key that was to be sent, without the key.
type KeyError struct {
	Source string // environment variable X, file Y
	Reason string // is not set, is empty, holds a blank, …
}

func (e *KeyError) Error() string { return e.Source + " " + e.Reason }

// keySource reads an API key anew at each use, so that a rotated key works at
// the next probe. Exactly one of env and file is set, or none.
type keySource struct {
	env, file string
	lookup    func(string) (string, bool)
}

func (k keySource) given() bool { return k.env != "" || k.file != "" }

func (k keySource) String() string {
	if k.env != "" {
		return "environment variable " + k.env
	}
	return "file " + k.file
}

func (k keySource) read(context.Context) (string, error) {
	raw, err := k.raw()
	if err != nil {
		return "", err
	}
	return cleanKey(k.String(), raw)
}

func (k keySource) raw() (string, error) {
	if k.env != "" {
		v, ok := k.lookup(k.env)
		if !ok {
			return "", &KeyError{k.String(), "is not set"}
		}
		return v, nil
	}
	f, err := os.Open(k.file)
	if err != nil {
		return "", &KeyError{k.String(), "cannot be read: " + reason(err)}
	}
	defer f.Close()
	const most = 64 << 10 // a long JWT has 8 KiB
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return "", &KeyError{k.String(), "cannot be read: " + reason(err)}
	case len(data) > most:
		return "", &KeyError{k.String(), "is larger than 64 KiB, which is no key"}
	}
	return string(data), nil
}

// cleanKey removes blanks and line ends behind a key, which editors and echo
// leave there, and refuses what no server would take for the key that was
// meant.
func cleanKey(source, raw string) (string, error) {
	key := strings.TrimRight(raw, " \t\r\n")
	problem := ""
	switch {
	case raw == "":
		problem = "is empty"
	case strings.TrimSpace(raw) == "":
		problem = "holds blanks only"
	case strings.ContainsAny(key, "\r\n"):
		problem = "holds more than one line; keep the key alone"
	case strings.HasPrefix(strings.ToLower(key), "bearer "):
		problem = "begins with the word Bearer; keep the key alone, the scheme is added"
	case key[0] == ' ' || key[0] == '\t':
		problem = "begins with a blank; remove it"
	case len(key) > 1 && (key[0] == '"' || key[0] == '\'') && key[len(key)-1] == key[0]:
		problem = "is wrapped in quotes; remove them"
	case strings.ContainsAny(key, " \t"):
		problem = "holds a blank; remove it"
	case strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }):
		problem = fmt.Sprintf("holds a character that no header may carry (%d bytes in all); copy the key again", len(key))
	}
	if problem != "" {
		return "", &KeyError{source, problem}
	}
	return key, nil
}
