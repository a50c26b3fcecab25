package manifests

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
)

var overlays = []string{"base", "overlays/single", "overlays/shards", "overlays/locations/fra", "overlays/locations/hkg"}

// TestKinds: every overlay is complete, and none carries a Secret.
func TestKinds(t *testing.T) {
	common := []string{"ConfigMap", "NetworkPolicy", "PodDisruptionBudget", "PrometheusRule", "Service", "ServiceMonitor"}
	more := map[string][]string{
		"base":                   {"Deployment"},
		"overlays/single":        {"Deployment", "Namespace", "PersistentVolumeClaim"},
		"overlays/shards":        {"StatefulSet", "Namespace"},
		"overlays/locations/fra": {"Deployment", "Namespace", "PersistentVolumeClaim"},
		"overlays/locations/hkg": {"Deployment", "Namespace", "PersistentVolumeClaim"},
	}
	for _, dir := range overlays {
		want := slices.Sorted(slices.Values(append(slices.Clone(common), more[dir]...)))
		if got := slices.Sorted(maps.Keys(render(t, dir).kinds)); !slices.Equal(got, want) {
			t.Errorf("%s: kinds %v, want %v", dir, got, want)
		}
	}
}

// TestRestricted holds the pods against the restricted Pod Security Standard
// and what we ask for beyond it.
func TestRestricted(t *testing.T) {
	for _, dir := range overlays {
		pod := render(t, dir).pod(t).Spec
		sc := pod.SecurityContext
		c := pod.Containers[0]
		for what, ok := range map[string]bool{
			"runs as non-root":            *sc.RunAsNonRoot && *sc.RunAsUser == 65532,
			"default seccomp profile":     sc.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
			"no token of the API server":  pod.AutomountServiceAccountToken != nil && !*pod.AutomountServiceAccountToken,
			"no host namespaces":          !pod.HostNetwork && !pod.HostPID && !pod.HostIPC,
			"one container":               len(pod.Containers) == 1 && len(pod.InitContainers) == 0,
			"no privilege escalation":     !*c.SecurityContext.AllowPrivilegeEscalation && !*c.SecurityContext.Privileged,
			"read-only root file system":  *c.SecurityContext.ReadOnlyRootFilesystem,
			"all capabilities dropped":    slices.Equal(c.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}) && c.SecurityContext.Capabilities.Add == nil,
			"an image with its version":   strings.Contains(c.Image, ":") && !strings.HasSuffix(c.Image, ":latest"),
			"requests for CPU and memory": !c.Resources.Requests.Cpu().IsZero() && !c.Resources.Requests.Memory().IsZero(),
			"no limit on CPU":             c.Resources.Limits.Cpu().IsZero(),
		} {
			if !ok {
				t.Errorf("%s: the pod lacks: %s", dir, what)
			}
		}
		for _, m := range c.VolumeMounts {
			if m.SubPath != "" {
				t.Errorf("%s: %s is mounted by subPath and would never be updated", dir, m.MountPath)
			}
			if m.Name != "state" && !m.ReadOnly {
				t.Errorf("%s: %s can be written", dir, m.MountPath)
			}
		}
		memory(t, dir, c)
	}
}

// memory: the collector must work harder before the kernel kills.
func memory(t *testing.T, dir string, c corev1.Container) {
	t.Helper()
	for _, e := range c.Env {
		if e.Name != "GOMEMLIMIT" {
			continue
		}
		// Go writes MiB where Kubernetes writes Mi.
		soft, err := resource.ParseQuantity(strings.TrimSuffix(e.Value, "B"))
		if err != nil {
			t.Fatal(err)
		}
		hard := c.Resources.Limits.Memory()
		if ratio := float64(soft.Value()) / float64(hard.Value()); ratio < 0.8 || ratio > 0.95 {
			t.Errorf("%s: GOMEMLIMIT is %.2f of the limit on memory, want 0.8 to 0.95", dir, ratio)
		}
		return
	}
	t.Errorf("%s: GOMEMLIMIT is not set", dir)
}

// TestStopAndStart: nothing runs twice, and running probes may finish.
func TestStopAndStart(t *testing.T) {
	for _, dir := range overlays {
		r := render(t, dir)
		pod := r.pod(t).Spec
		grace := 25 * time.Second // the flag's default
		for _, a := range pod.Containers[0].Args {
			if v, ok := strings.CutPrefix(a, "--shutdown.grace="); ok {
				grace, _ = time.ParseDuration(v)
			}
		}
		if total := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace < 24*time.Second || total < grace+10*time.Second {
			t.Errorf("%s: probes may finish for %v and the pod has %v; want at least 24s (the longest default limit) and 10s more", dir, grace, total)
		}
		if d := r.deployment; d != nil && (d.Spec.Strategy.Type != "Recreate" || *d.Spec.Replicas != 1) {
			t.Errorf("%s: %d replicas by %s: probes would be sent twice", dir, *d.Spec.Replicas, d.Spec.Strategy.Type)
		}
		if r.budget.Spec.MinAvailable != nil || r.budget.Spec.MaxUnavailable.IntValue() != 1 {
			t.Errorf("%s: the disruption budget is not maxUnavailable: 1", dir)
		}
	}
}

// TestWiring: ports, selectors and names of one object fit those of the others.
func TestWiring(t *testing.T) {
	for _, dir := range overlays {
		r := render(t, dir)
		pod := r.pod(t)
		ports := map[string]int32{}
		for _, p := range pod.Spec.Containers[0].Ports {
			ports[p.Name] = p.ContainerPort
		}
		if ports["metrics"] != 9816 || ports["health"] == 9817 || !slices.Contains(pod.Spec.Containers[0].Args, "--web.health-address=:9818") || ports["health"] != 9818 {
			t.Errorf("%s: ports %v; want metrics 9816, and health 9818, where the flag puts it", dir, ports)
		}
		c := pod.Spec.Containers[0]
		if c.LivenessProbe.HTTPGet.Path != "/-/healthy" || c.ReadinessProbe.HTTPGet.Path != "/-/ready" || c.LivenessProbe.HTTPGet.Port.StrVal != "health" || c.ReadinessProbe.HTTPGet.Port.StrVal != "health" {
			t.Errorf("%s: probes %v and %v", dir, c.LivenessProbe.HTTPGet, c.ReadinessProbe.HTTPGet)
		}
		for what, selector := range map[string]map[string]string{
			"Service": r.service.Spec.Selector, "NetworkPolicy": r.policy.Spec.PodSelector.MatchLabels, "PodDisruptionBudget": r.budget.Spec.Selector.MatchLabels,
		} {
			if len(selector) == 0 || !labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
				t.Errorf("%s: %s selects %v, pods have %v", dir, what, selector, pod.Labels)
			}
		}
		if !labels.SelectorFromSet(r.monitor.Spec.Selector.MatchLabels).Matches(labels.Set(r.service.Labels)) {
			t.Errorf("%s: the ServiceMonitor selects %v, the Service has %v", dir, r.monitor.Spec.Selector.MatchLabels, r.service.Labels)
		}
		if port := r.monitor.Spec.Endpoints[0].Port; len(r.service.Spec.Ports) != 1 || port != r.service.Spec.Ports[0].Name {
			t.Errorf("%s: the ServiceMonitor scrapes port %q, the Service has %v", dir, port, r.service.Spec.Ports)
		}
		if job := r.service.Labels[r.monitor.Spec.JobLabel]; job != "tokprobe" {
			t.Errorf("%s: the job is %q; the rules ask for tokprobe", dir, job)
		}
		if native, classic := r.monitor.Spec.ScrapeNativeHistograms, r.monitor.Spec.ScrapeClassicHistograms; native == nil || !*native || classic == nil || !*classic {
			t.Errorf("%s: the ServiceMonitor does not scrape both kinds of histograms", dir)
		}
		if r.monitor.Labels["release"] == "" || r.monitor.Labels["release"] != r.rule.Labels["release"] {
			t.Errorf("%s: release labels %q and %q", dir, r.monitor.Labels["release"], r.rule.Labels["release"])
		}
		if len(r.rule.Spec.Groups) < 2 || r.configs.Name != "tokprobe" || r.configs.Data["tokprobe.yaml"] == "" {
			t.Errorf("%s: %d rule groups, ConfigMap %q", dir, len(r.rule.Spec.Groups), r.configs.Name)
		}
		volumes(t, dir, r, pod.Spec)
	}
}

// volumes: each mount has its volume, and each volume refers to what is there.
func volumes(t *testing.T, dir string, r rendered, pod corev1.PodSpec) {
	t.Helper()
	names := map[string]bool{}
	for _, v := range pod.Volumes {
		names[v.Name] = true
		if v.ConfigMap != nil && v.ConfigMap.Name != r.configs.Name {
			t.Errorf("%s: volume %s is ConfigMap %q, which does not exist", dir, v.Name, v.ConfigMap.Name)
		}
		if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName != r.claim.Name {
			t.Errorf("%s: volume %s is claim %q, which does not exist", dir, v.Name, v.PersistentVolumeClaim.ClaimName)
		}
	}
	if r.stateful != nil {
		for _, v := range r.stateful.Spec.VolumeClaimTemplates {
			names[v.Name] = true
		}
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !names[m.Name] {
			t.Errorf("%s: %s is mounted, but there is no volume %s", dir, m.MountPath, m.Name)
		}
	}
	if dir != "base" && slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.EmptyDir != nil }) {
		t.Errorf("%s: the state is lost with the pod, and with it what was spent today", dir)
	}
}

// TestEgress: DNS and the endpoints may be reached, the metadata service of a
// cloud may not.
func TestEgress(t *testing.T) {
	r := render(t, "overlays/single")
	var open []int
	for _, rule := range r.policy.Spec.Egress {
		for _, p := range rule.Ports {
			open = append(open, p.Port.IntValue())
		}
		for _, to := range rule.To {
			if b := to.IPBlock; b != nil && b.CIDR == "0.0.0.0/0" && !slices.Contains(b.Except, "169.254.0.0/16") {
				t.Error("the metadata service can be reached")
			}
		}
	}
	if want := []int{53, 53, 443, 8000}; !slices.Equal(open, want) {
		t.Errorf("open ports %v, want %v", open, want)
	}
	if len(r.policy.Spec.PolicyTypes) != 2 {
		t.Errorf("policy types %v, want both", r.policy.Spec.PolicyTypes)
	}
}

// TestShards: as many shards as replicas, each knowing which it is.
func TestShards(t *testing.T) {
	r := render(t, "overlays/shards")
	if r.stateful == nil {
		t.Fatal("no StatefulSet")
	}
	c := r.stateful.Spec.Template.Spec.Containers[0]
	if *r.stateful.Spec.Replicas != 5 || !slices.Contains(c.Args, "--shard=auto/5") {
		t.Errorf("%d replicas and %v: the numbers differ, so probes are lost", *r.stateful.Spec.Replicas, c.Args)
	}
	var path string
	for _, e := range c.Env {
		if e.Name == "POD_INDEX" {
			path = e.ValueFrom.FieldRef.FieldPath
		}
	}
	if want := "metadata.labels['apps.kubernetes.io/pod-index']"; path != want {
		t.Errorf("POD_INDEX is %q, want %q", path, want)
	}
	if r.stateful.Spec.ServiceName != r.service.Name || r.service.Spec.ClusterIP != "None" {
		t.Errorf("the service %q with address %q does not govern the set, which names %q", r.service.Name, r.service.Spec.ClusterIP, r.stateful.Spec.ServiceName)
	}
}

// TestLocations: places differ by their label and by nothing else.
func TestLocations(t *testing.T) {
	for _, name := range []string{"fra", "hkg"} {
		found := ""
		r := render(t, "overlays/locations/"+name)
		if args := r.pod(t).Spec.Containers[0].Args; !slices.Contains(args, "--location="+name) {
			t.Errorf("%s: sweeps do not know the place: %v", name, args)
		}
		for _, rel := range r.monitor.Spec.Endpoints[0].RelabelConfigs {
			if rel.TargetLabel == "location" && rel.Replacement != nil {
				found = *rel.Replacement
			}
		}
		if found != name {
			t.Errorf("location %q, want %q", found, name)
		}
	}
}

// TestDashboards: the boards come as a ConfigMap that Grafana's sidecar takes
// and the API server accepts, which is up to 1 MiB.
func TestDashboards(t *testing.T) {
	r := render(t, "overlays/dashboards")
	size := 0
	for _, text := range r.configs.Data {
		size += len(text)
	}
	if r.configs.Labels["grafana_dashboard"] != "1" || len(r.configs.Data) < 4 || size > 1<<20 {
		t.Errorf("labels %v, %d boards of %d bytes", r.configs.Labels, len(r.configs.Data), size)
	}
}
