package wire

// dialects is the whole list.
func dialects() []Dialect {
	return []Dialect{
		{
			Name: "openai-chat", Path: "/v1/chat/completions", KeyHeader: "Authorization",
			Encode: encodeChat, NewDecoder: newChatDecoder,
		},
		{
			Name: "openai-completions", Path: "/v1/completions", KeyHeader: "Authorization",
			Encode: encodeCompletions, NewDecoder: newCompletionsDecoder,
		},
		{
			Name: "anthropic-messages", Path: "/v1/messages", KeyHeader: "x-api-key",
			Headers: map[string]string{"anthropic-version": "2023-06-01"},
			Encode:  encodeMessages, NewDecoder: newMessagesDecoder,
		},
	}
}

// Lookup returns the dialect of that name.
func Lookup(name string) (Dialect, bool) {
	for _, d := range dialects() {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}

// Names returns the names of all dialects, the default first.
func Names() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.Name)
	}
	return names
}
