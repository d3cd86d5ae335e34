{{/* Labels of a part's pods; those of Jobs have the labels of CFS's. */}}
{{- define "muster.partSelector" -}}
{{- if eq .part "runner" -}}
app.kubernetes.io/name: cray-cfs-aee
{{- /* CFS's own pods may be in the same namespace. */}}
app.kubernetes.io/managed-by: muster
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

{{/* Namespace of a part's pods: (dict "root" $ "part" "api") */}}
{{- define "muster.partNamespace" -}}
{{- ternary (include "muster.runnerNamespace" .root) .root.Release.Namespace (eq .part "runner") -}}
{{- end -}}

{{/* Who is at the other end of a part's flow; nothing: everybody. Without a namespace pods of the policy's own are meant. */}}
{{- define "muster.peers" -}}
{{- if hasKey .file.parts .peer -}}
{{- $there := include "muster.partNamespace" (dict "root" .root "part" .peer) -}}
- podSelector:
    matchLabels: {{- include "muster.partSelector" (dict "root" .root "part" .peer) | nindent 6 }}
  {{- if ne $there (include "muster.partNamespace" .) }}
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: {{ $there | quote }}
  {{- end }}
{{- else -}}
{{- with index .root.Values.networkPolicy.peers .peer -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}
{{- end -}}
