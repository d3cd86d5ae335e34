{{/* What cannot work and the schema of the values cannot say. */}}
{{- define "muster.refusals" -}}
{{- $v := .Values -}}
{{- $full := include "muster.fullname" . -}}
{{- $ports := (.Files.Get "flows.yaml" | fromYaml).ports -}}
{{- if not (regexMatch "^[a-z]" $full) -}}
{{- fail (printf "%s: a Service cannot have a name that begins with a digit: give fullnameOverride" $full) -}}
{{- end -}}
{{- if eq (int $v.ingest.port) (int $ports.api) -}}
{{- fail (printf "ingest.port: %v is the port of the API in the same pod" $v.ingest.port) -}}
{{- end -}}
{{- if eq (int $v.worker.metricsPort) (int $ports.probes) -}}
{{- fail (printf "worker.metricsPort: %v is the port of the probes in the same pod" $v.worker.metricsPort) -}}
{{- end -}}
{{- if and (eq $v.access.mode "gateway") $v.access.oidc.issuer -}}
{{- fail "access.oidc: with access.mode gateway the gateway checks tokens, and nobody else: leave it out" -}}
{{- end -}}
{{- $space := include "muster.runnerNamespace" . -}}
{{- /* Only a cluster that is asked can tell what follows: nothing comes of "template". */ -}}
{{- /* Nobody would end the Jobs in the namespace of before, nor let go of them, and keys that hosts trust would not be found. The release's own Deployment tells it: whoever may upgrade may read that, while other namespaces may be closed to them. */ -}}
{{- if .Release.IsUpgrade -}}
  {{- $worker := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-worker" $full) -}}
  {{- range (dig "spec" "template" "spec" "containers" list $worker) -}}
    {{- range (default list .env) -}}
      {{- $before := replace "$(RELEASE_NAMESPACE)" $.Release.Namespace (default "" .value) -}}
      {{- if and (eq .name "MUSTER_RUNNER_NAMESPACE") (ne $before $space) -}}
        {{- fail (printf "runner.namespace: the Jobs of this release are in namespace %s, with the Secrets that Muster made, and no upgrade brings them to %s: uninstall the release, copy these Secrets, then install it anew; see \"Jobs in another namespace\" in docs/kubernetes.md" $before $space) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- /* Each would take the other's Jobs for leftovers and end them. */ -}}
{{- range (lookup "rbac.authorization.k8s.io/v1" "Role" $space "").items -}}
  {{- $labels := default dict .metadata.labels -}}
  {{- if and (eq (get $labels "app.kubernetes.io/part-of") "muster") (eq (get $labels "app.kubernetes.io/component") "rights") -}}
    {{- $name := get $labels "app.kubernetes.io/instance" -}}
    {{- $from := default $.Release.Namespace (get (default dict .metadata.annotations) "meta.helm.sh/release-namespace") -}}
    {{- if or (ne $name $.Release.Name) (ne $from $.Release.Namespace) -}}
      {{- fail (printf "runner.namespace: %s is the namespace of the Jobs of release %s in namespace %s: give another one" $space $name $from) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}
