{{/* Labels of a part's pods; those of Jobs have the labels of CFS's. */}}
{{- define "muster.partSelector" -}}
{{- if eq .part "runner" -}}
app.kubernetes.io/name: cray-cfs-aee
{{- else -}}
{{- include "muster.selector" . -}}
{{- end -}}
{{- end -}}

{{/* Ports of a flow; nothing of ours listens on a port that a policy could not name. */}}
{{- define "muster.flowPorts" -}}
{{- $name := .flow.port -}}
{{- $numbers := list -}}
{{- if hasKey .file.ports $name -}}
  {{- $numbers = list (index .file.ports $name) -}}
  {{- if eq $name "ingest" }}{{ $numbers = list .root.Values.ingest.port }}{{ end -}}
  {{- if eq $name "metrics" }}{{ $numbers = list .root.Values.worker.metricsPort }}{{ end -}}
{{- else -}}
  {{- $numbers = default (index .file.defaults $name) (index .root.Values.networkPolicy.ports $name) -}}
{{- end -}}
{{- $ports := list -}}
{{- range $number := $numbers -}}
  {{- if eq $name "dns" }}{{ $ports = append $ports (dict "protocol" "UDP" "port" $number) }}{{ end -}}
  {{- if kindIs "string" $number -}}
    {{- $ends := splitList "-" $number -}}
    {{- $ports = append $ports (dict "protocol" "TCP" "port" (first $ends | int) "endPort" (last $ends | int)) -}}
  {{- else -}}
    {{- $ports = append $ports (dict "protocol" "TCP" "port" $number) -}}
  {{- end -}}
{{- end -}}
{{- toYaml $ports -}}
{{- end -}}

{{/* Who is at the other end; nothing: everybody. */}}
{{- define "muster.peers" -}}
{{- if hasKey .file.parts .peer -}}
- podSelector:
    matchLabels: {{- include "muster.partSelector" (dict "root" .root "part" .peer) | nindent 6 }}
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: {{ ternary (include "muster.runnerNamespace" .root) .root.Release.Namespace (eq .peer "runner") }}
{{- else -}}
{{- with index .root.Values.networkPolicy.peers .peer -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}
{{- end -}}
