package roster

import "regexp"

var (
	harmlessWord = regexp.MustCompile(`^[a-z_]{1,16}$`)
	secretName   = regexp.MustCompile(`(?i)key|secret|passw|credential|auth|token$`)
)

// ShowParam says whether one value of the request parameters may be seen, in
// /config and in reports. Some gateways take a key as a parameter of the body,
// so a text is shown only if it is a short word, and neither it nor a number if
// its name says that it is a secret.
func ShowParam(name string, value any) bool {
	switch v := value.(type) {
	case nil, bool:
		return true
	case int64, float64, int:
		return !secretName.MatchString(name)
	case string:
		return harmlessWord.MatchString(v) && !secretName.MatchString(name)
	}
	return false
}
