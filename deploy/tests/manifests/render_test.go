package manifests

import (
	"path/filepath"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// rendered is what one overlay makes, by kind. The workload is a Deployment or
// a StatefulSet.
type rendered struct {
	kinds      map[string]int
	deployment *appsv1.Deployment
	stateful   *appsv1.StatefulSet
	service    corev1.Service
	monitor    monitoringv1.ServiceMonitor
	rule       monitoringv1.PrometheusRule
	policy     networkingv1.NetworkPolicy
	budget     policyv1.PodDisruptionBudget
	configs    corev1.ConfigMap
	claim      corev1.PersistentVolumeClaim
	namespace  corev1.Namespace
}

// render builds deploy/kubernetes/dir as kubectl does and decodes every object
// into the API's own type, in which unknown fields are errors.
func render(t *testing.T, dir string) rendered {
	t.Helper()
	path := filepath.Join("..", "..", "kubernetes", filepath.FromSlash(dir))
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), path)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	r := rendered{kinds: map[string]int{}}
	for _, res := range resources.Resources() {
		data, err := res.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		r.kinds[res.GetKind()]++
		into := r.place(res.GetKind())
		if into == nil {
			t.Errorf("%s: a %s was not expected", dir, res.GetKind())
			continue
		}
		if err := yaml.UnmarshalStrict(data, into); err != nil {
			t.Errorf("%s: %s %s: %v", dir, res.GetKind(), res.GetName(), err)
		}
	}
	return r
}

// place returns where an object of a kind is decoded to; nil if it should not
// be there at all, a Secret above all.
func (r *rendered) place(kind string) any {
	switch kind {
	case "Deployment":
		r.deployment = &appsv1.Deployment{}
		return r.deployment
	case "StatefulSet":
		r.stateful = &appsv1.StatefulSet{}
		return r.stateful
	case "Service":
		return &r.service
	case "ServiceMonitor":
		return &r.monitor
	case "PrometheusRule":
		return &r.rule
	case "NetworkPolicy":
		return &r.policy
	case "PodDisruptionBudget":
		return &r.budget
	case "ConfigMap":
		return &r.configs
	case "PersistentVolumeClaim":
		return &r.claim
	case "Namespace":
		return &r.namespace
	}
	return nil
}

// pod is the pod template, whatever runs it.
func (r rendered) pod(t *testing.T) corev1.PodTemplateSpec {
	t.Helper()
	switch {
	case r.deployment != nil && r.stateful == nil:
		return r.deployment.Spec.Template
	case r.stateful != nil && r.deployment == nil:
		return r.stateful.Spec.Template
	}
	t.Fatalf("want one Deployment or one StatefulSet, have %v", r.kinds)
	return corev1.PodTemplateSpec{}
}
