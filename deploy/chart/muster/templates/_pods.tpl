{{/* What all pods of Muster have in common. */}}

{{/* (dict "root" $ "part" "api") */}}
{{- define "muster.podSettings" -}}
automountServiceAccountToken: {{ or (eq .part "api") (eq .part "worker") (eq .part "uninstall") }}
enableServiceLinks: false
securityContext:
  {{- if eq .part "images" }}
  runAsUser: 0
  runAsGroup: 0
  {{- else }}
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  {{- end }}
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Where pods may stand: (dict "root" $ "part" "api" "values" .Values.api) */}}
{{- define "muster.placement" -}}
{{- if ne .part "images" }}
topologySpreadConstraints:
  {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "muster.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The one container, as far as it is the same in all pods: (dict "root" $ "part" "api" "script" "api/main.ts") */}}
{{- define "muster.container" -}}
name: muster
image: {{ include "muster.image" (dict "root" .root "image" .root.Values.images.muster) | quote }}
imagePullPolicy: {{ .root.Values.images.pullPolicy }}
{{- if eq .part "images" }}
# Whose parent was killed in an image is reaped.
command: [tini, --, node]
{{- else }}
command: [node]
{{- end }}
args: {{ concat (list .script) (default list .words) | toJson }}
workingDir: /opt/muster
securityContext:
  {{- if ne .part "images" }}
  allowPrivilegeEscalation: false
  {{- end }}
  readOnlyRootFilesystem: true
  {{- if eq .part "images" }}
  # What unpacking and entering an image takes, and nothing else (docs/lanes/images.md).
  capabilities:
    drop: [ALL]
    add: [AUDIT_WRITE, CHOWN, DAC_OVERRIDE, FOWNER, FSETID, MKNOD, SETFCAP, SETGID, SETPCAP, SETUID, SYS_ADMIN, SYS_CHROOT]
  appArmorProfile: {type: Unconfined}
  {{- else }}
  capabilities: {drop: [ALL]}
  {{- end }}
volumeMounts: {{- include "muster.volumeMounts" . | nindent 2 }}
env: {{- include "muster.env" . | nindent 2 }}
{{- end -}}

{{/* Files that settings name: setting, path, source. (dict "root" $ "part" "api") */}}
{{- define "muster.files" -}}
{{- $v := .root.Values -}}
{{- $files := list -}}
{{- if ne .part "uninstall" -}}
{{- range $file := list
  (dict "name" "database-ca" "from" $v.database.ca)
  (dict "name" "temporal-ca" "from" $v.temporal.tls.ca)
  (dict "name" "platform-ca" "from" $v.platformCa) -}}
  {{- if or $file.from.secret $file.from.configMap -}}
    {{- $files = append $files (dict "name" $file.name "secret" $file.from.secret "configMap" $file.from.configMap "items" (list (dict "key" $file.from.key "path" "ca.crt"))) -}}
  {{- end -}}
{{- end -}}
{{- with $v.temporal.tls.clientSecret -}}
  {{- $files = append $files (dict "name" "temporal-client" "secret" . "configMap" "" "items" (list (dict "key" "tls.crt" "path" "tls.crt") (dict "key" "tls.key" "path" "tls.key"))) -}}
{{- end -}}
{{- end -}}
{{- with include "muster.macKeySecret" .root -}}
{{- if has $.part (list "api" "worker" "images") -}}
  {{- $key := default "mac-key" (default dict $v.temporal.macKey).key -}}
  {{- $files = append $files (dict "name" "mac-key" "secret" . "configMap" "" "items" (list (dict "key" $key "path" "mac-key"))) -}}
{{- end -}}
{{- end -}}
{{- if eq .part "migrate" -}}
  {{- range $at, $login := default list $v.operatorLogins -}}
    {{- $files = append $files (dict "name" (printf "operator-login-%d" $at) "secret" $login.existingSecret "configMap" "" "items" (list (dict "key" (default "password" $login.key) "path" "password"))) -}}
  {{- end -}}
{{- end -}}
{{- if eq .part "worker" -}}
  {{- with $v.ara.credentials -}}
  {{- if .existingSecret -}}
    {{- $files = append $files (dict "name" "ara-credentials" "secret" .existingSecret "configMap" "" "items" (list (dict "key" .key "path" "credentials.json"))) -}}
  {{- end -}}
  {{- end -}}
{{- end -}}
{{- if eq .part "api" -}}
  {{- with $v.tls.existingSecret -}}
    {{- $files = append $files (dict "name" "tls" "secret" . "configMap" "" "items" (list (dict "key" "tls.crt" "path" "tls.crt") (dict "key" "tls.key" "path" "tls.key"))) -}}
  {{- end -}}
  {{- if eq $v.access.mode "token" -}}
    {{- $token := $v.access.adminToken -}}
    {{- $files = append $files (dict "name" "admin-token" "secret" (required "access.adminToken.existingSecret: name the Secret with the first administrator's token" $token.existingSecret) "configMap" "" "items" (list (dict "key" $token.key "path" "token"))) -}}
  {{- end -}}
{{- end -}}
{{- toJson (dict "files" $files) -}}
{{- end -}}

{{- define "muster.volumeMounts" -}}
- {name: data, mountPath: /var/lib/muster}
- {name: tmp, mountPath: /tmp}
{{- if and .root.Values.imageService.enabled (or (eq .part "api") (eq .part "images")) }}
- {name: images, mountPath: /var/lib/muster-images}
{{- end }}
{{- if eq .part "images" }}
- {name: image-jobs, mountPath: /var/lib/muster-image-jobs}
{{- end }}
{{- range (include "muster.files" . | fromJson).files }}
- {name: {{ .name }}, mountPath: /etc/muster/{{ .name }}, readOnly: true}
{{- end }}
{{- end -}}

{{- define "muster.volumes" -}}
- {name: data, emptyDir: {}}
- {name: tmp, emptyDir: {}}
{{- $claim := printf "%s-images" (include "muster.fullname" .root) }}
{{- with .root.Values.imageService }}
{{- if and .enabled (or (eq $.part "api") (eq $.part "images")) }}
- {name: images, persistentVolumeClaim: {claimName: {{ default $claim .files.existingClaim | quote }}}}
{{- end }}
{{- if eq $.part "images" }}
- {name: image-jobs, persistentVolumeClaim: {claimName: {{ default (printf "%s-jobs" $claim) .jobs.existingClaim | quote }}}}
{{- end }}
{{- end }}
{{- range (include "muster.files" . | fromJson).files }}
- name: {{ .name }}
  {{- if .secret }}
  secret:
    secretName: {{ .secret | quote }}
    {{- /* 0440: written so it means the same to every reader of YAML. */}}
    defaultMode: 288
  {{- else }}
  configMap:
    name: {{ .configMap | quote }}
  {{- end }}
    items: {{- toYaml .items | nindent 6 }}
{{- end }}
{{- end -}}
