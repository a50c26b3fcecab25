package probe

import (
	"context"
	"time"
)

const (
	listTime  = 3 * time.Second  // for the list of models behind a hint
	listKept  = 10 * time.Minute // a target without the model is asked once in that time
	nearestID = 3
)

// modelList is the latest list of models, empty if there was none to be had.
type modelList struct {
	at  time.Time
	ids []string
}

// Models asks for the ids of the models that the endpoint lists, as it lists
// them. Many gateways have no such list: a *StatusError then.
func (e *Endpoint) Models(ctx context.Context) ([]string, error) {
	body, err := e.get(ctx, "/v1/models", false)
	if err != nil {
		return nil, err
	}
	return parseModels(body)
}

// nearest returns listed ids that are like model, for a hint. It is off every
// clock, and asks at most once in listKept.
func (e *Endpoint) nearest(ctx context.Context, model string) []string {
	list := e.listed.Load()
	if list == nil || time.Since(list.at) > listKept {
		ctx, cancel := context.WithTimeout(ctx, listTime)
		defer cancel()
		ids, err := e.Models(ctx)
		if err != nil {
			ids = nil
		}
		list = &modelList{time.Now(), ids}
		e.listed.Store(list)
	}
	return Nearest(model, list.ids, nearestID)
}
