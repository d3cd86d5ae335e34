{{- define "operator.fullname" -}}
{{- .Release.Name | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "operator.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "operator.labels" -}}
{{ include "operator.selector" . }}
app.kubernetes.io/part-of: muster
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "operator.image" -}}
{{- $repository := required "image.repository: name the image of the operator" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* Names of what belongs to the whole cluster: another namespace may have a release of the same name. */}}
{{- define "operator.clusterName" -}}
{{ printf "%s-%s" .Release.Namespace (include "operator.fullname" .) }}
{{- end -}}

{{- define "operator.account" -}}
- kind: ServiceAccount
  name: {{ include "operator.fullname" . }}
  namespace: {{ .Release.Namespace | quote }}
{{- end -}}
