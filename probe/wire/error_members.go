package wire

// errorMembers is what the members of one object say.
type errorMembers struct {
	obj                                            ErrorObject
	err, emptyErr, flagged, code, message, choices bool
}

// read reads an object; what an inner object under "error" says wins over the
// fields beside it. More than three objects inside one another are skipped.
func (m *errorMembers) read(w *walker, level int) {
	var inner ErrorObject
	if !w.enter('{') {
		return
	}
	for n := 0; w.more(n, '}'); n++ {
		switch string(w.member()) {
		case "error":
			inner = m.inner(w, level)
		case "object":
			m.flagged = m.flagged || w.text(maxName) == "error"
		case "type":
			if s := w.text(maxName); s == "error" {
				m.flagged = true
			} else {
				m.obj.Type = s
			}
		case "code":
			m.code = true
			m.obj.Code = w.text(maxName)
		case "param":
			m.obj.Param = w.text(maxName)
		case "message":
			m.message = w.kind() == '"'
			m.obj.Message = w.text(maxMessage)
		case "msg", "detail":
			text, where := detail(w)
			m.obj.Message, m.obj.Param = first(m.obj.Message, text), first(m.obj.Param, where)
		case "choices":
			m.choices = !empty(w)
		default:
			w.skip()
		}
	}
	m.obj = ErrorObject{
		Type:    first(inner.Type, m.obj.Type),
		Code:    first(inner.Code, m.obj.Code),
		Param:   first(inner.Param, m.obj.Param),
		Message: first(inner.Message, m.obj.Message),
	}
}

// inner reads the value of a member "error".
func (m *errorMembers) inner(w *walker, level int) ErrorObject {
	switch w.kind() {
	case 'n', 'f':
		w.skip()
	case '"':
		s := w.text(maxMessage)
		m.err, m.emptyErr = s != "", s == ""
		return ErrorObject{Message: s}
	case '{':
		m.err = true
		if level < 3 {
			var in errorMembers
			in.read(w, level+1)
			return in.obj
		}
		w.skip()
	default:
		m.err = true
		return ErrorObject{Message: w.text(maxMessage)}
	}
	return ErrorObject{}
}

// detail reads FastAPI's "detail": a text, or a list of objects with "msg" and
// the place of the fault as "loc", such as ["body", "stream_options"]; of these
// the first, its place as body.stream_options.
func detail(w *walker) (text, where string) {
	if w.kind() != '[' {
		return w.text(maxMessage), ""
	}
	w.enter('[')
	for n := 0; w.more(n, ']'); n++ {
		if w.kind() != '{' || n > 0 {
			w.skip()
			continue
		}
		w.enter('{')
		for k := 0; w.more(k, '}'); k++ {
			switch string(w.member()) {
			case "msg":
				text = w.text(maxMessage)
			case "loc":
				where = location(w)
			default:
				w.skip()
			}
		}
	}
	return text, where
}

// location joins the names of a list with full stops.
func location(w *walker) string {
	if w.kind() != '[' {
		return w.text(maxName)
	}
	var path []byte
	w.enter('[')
	for n := 0; w.more(n, ']'); n++ {
		name := w.text(maxName)
		if name == "" || len(path)+1+len(name) > maxName {
			continue
		}
		if len(path) > 0 {
			path = append(path, '.')
		}
		path = append(path, name...)
	}
	return string(path)
}

// empty skips a value and reports whether it is null or an empty list.
func empty(w *walker) bool {
	if w.kind() != '[' {
		none := w.kind() == 'n'
		w.skip()
		return none
	}
	n := 0
	for w.enter('['); w.more(n, ']'); n++ {
		w.skip()
	}
	return n == 0
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// text returns a string, cleaned and cut to limit bytes, or a number as
// written; other values are skipped and give "".
func (w *walker) text(limit int) string {
	switch c := w.kind(); {
	case c == '"':
		raw, escaped, _ := w.str()
		if escaped {
			raw = unescape(nil, beginning(raw, 8*limit))
		}
		return clean(raw, limit)
	case c == '-' || '0' <= c && c <= '9':
		num := w.number()
		return string(num[:min(len(num), maxName)])
	}
	w.skip()
	return ""
}

// beginning cuts a string as written to about limit bytes, between escapes.
func beginning(raw []byte, limit int) []byte {
	i := 0
	for i < len(raw) && i < limit {
		switch {
		case raw[i] != '\\':
			i++
		case raw[i+1] == 'u':
			i += 6
		default:
			i += 2
		}
	}
	return raw[:i]
}
