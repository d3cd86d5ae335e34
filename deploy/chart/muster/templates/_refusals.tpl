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
{{- /* Each would take the other's Jobs for leftovers and end them. Only a cluster that is asked can tell: nothing comes of "template". */ -}}
{{- $space := include "muster.runnerNamespace" . -}}
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
