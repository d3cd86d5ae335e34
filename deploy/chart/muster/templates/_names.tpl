{{/* Names and labels. */}}
{{- define "muster.name" -}}
{{- default .Chart.Name .Values.nameOverride -}}
{{- end -}}

{{- define "muster.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains (include "muster.name" .) .Release.Name -}}
{{- include "muster.short" .Release.Name -}}
{{- else -}}
{{- include "muster.short" (printf "%s-%s" .Release.Name (include "muster.name" .)) -}}
{{- end -}}
{{- end -}}

{{/* What a Service can be called, with room for the names of parts: those of releases may have dots and 53 characters. */}}
{{- define "muster.short" -}}
{{- . | replace "." "-" | trunc 40 | trimAll "-" -}}
{{- end -}}

{{- define "muster.runnerNamespace" -}}
{{- default .Release.Namespace .Values.runner.namespace -}}
{{- end -}}

{{- define "muster.runnerAccount" -}}
{{- default (printf "%s-runner" (include "muster.fullname" .)) .Values.runner.serviceAccount -}}
{{- end -}}

{{/* What pods of one part are selected by: (dict "root" $ "part" "api") */}}
{{- define "muster.selector" -}}
app.kubernetes.io/name: {{ include "muster.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "muster.labels" -}}
{{ include "muster.selector" . }}
app.kubernetes.io/part-of: muster
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* An image by its digest, else its tag, else the release's: (dict "root" $ "image" .Values.images.muster) */}}
{{- define "muster.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ default .root.Chart.AppVersion .image.tag }}
{{- end -}}
{{- end -}}

{{- define "muster.scheme" -}}
{{- if .Values.tls.existingSecret -}}https{{- else -}}http{{- end -}}
{{- end -}}

{{/* Annotations of what a hook of this kind needs: there before it, gone after it. */}}
{{- define "muster.beforeHook" -}}
helm.sh/hook: {{ . }}
helm.sh/hook-weight: "-1"
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{/* Name of the Secret with the key of the MACs; empty where there is none. Absent values: an upgrade reuses those of a release that had none. */}}
{{- define "muster.macKeySecret" -}}
{{- $mac := default (dict "create" true) .Values.temporal.macKey -}}
{{- if $mac.existingSecret -}}
{{ $mac.existingSecret }}
{{- else if $mac.create -}}
{{ include "muster.fullname" . }}-mac-key
{{- end -}}
{{- end -}}
