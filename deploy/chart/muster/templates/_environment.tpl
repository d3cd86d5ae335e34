{{/* A value as text. Numbers of a file are floating ones, which Go would write as 1.34217728e+08. */}}
{{- define "muster.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) -}}{{ printf "%.0f" . }}{{- else -}}{{ toString . }}{{- end -}}
{{- end -}}

{{/* Requests or limits as JSON, in which every quantity is a text. */}}
{{- define "muster.quantities" -}}
{{- $texts := dict -}}
{{- range $name, $quantity := . -}}
{{- $_ := set $texts $name (include "muster.text" $quantity) -}}
{{- end -}}
{{- toJson $texts -}}
{{- end -}}

{{/* The settings of Muster's processes, each by the name that config/ knows: (dict "root" $ "part" "api") */}}
{{- define "muster.env" -}}
{{- $v := .root.Values -}}
{{- $full := include "muster.fullname" .root -}}
{{- /* As the pod says it: Kustomize brings the plain manifests to another namespace, and changes no name inside a value. */ -}}
{{- $space := "$(RELEASE_NAMESPACE)" -}}
{{- $jobs := default $space $v.runner.namespace -}}
{{- $flows := .root.Files.Get "flows.yaml" | fromYaml -}}
{{- /* Absent where an upgrade reuses the values of a release that had none. */ -}}
{{- $address := default "0.0.0.0" $v.listenAddress -}}
{{- $listen := ternary (printf "[%s]" $address) $address (contains ":" $address) -}}
{{- $serves := or (eq .part "api") (eq .part "worker") -}}
- name: RELEASE_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
- {name: HOME, value: /tmp}
- {name: MUSTER_DATA_DIR, value: /var/lib/muster}
- {name: MUSTER_CACHE_DIR, value: /var/lib/muster/cache}
- {name: MUSTER_RUNNER_NAMESPACE, value: {{ $jobs | quote }}}
{{- if ne .part "uninstall" }}
- name: MUSTER_DATABASE_URL
  valueFrom:
    secretKeyRef: {name: {{ required "database.existingSecret: name the Secret with the URL of the database" $v.database.existingSecret | quote }}, key: {{ $v.database.urlKey | quote }}}
{{- if or $v.database.ca.secret $v.database.ca.configMap }}
- {name: MUSTER_DATABASE_CA_FILE, value: /etc/muster/database-ca/ca.crt}
{{- end }}
- {name: MUSTER_TEMPORAL_ADDRESS, value: {{ required "temporal.address: say host:port of Temporal" $v.temporal.address | quote }}}
- {name: MUSTER_TEMPORAL_NAMESPACE, value: {{ $v.temporal.namespace | quote }}}
{{- if eq .part "migrate" }}
- {name: MUSTER_TEMPORAL_RETENTION_DAYS, value: {{ $v.temporal.retentionDays | quote }}}
{{- end }}
{{- if $v.temporal.tls.enabled }}
- {name: MUSTER_TEMPORAL_TLS, value: "1"}
{{- end }}
{{- if or $v.temporal.tls.ca.secret $v.temporal.tls.ca.configMap }}
- {name: MUSTER_TEMPORAL_TLS_CA, value: /etc/muster/temporal-ca/ca.crt}
{{- end }}
{{- if $v.temporal.tls.clientSecret }}
- {name: MUSTER_TEMPORAL_TLS_CERT, value: /etc/muster/temporal-client/tls.crt}
- {name: MUSTER_TEMPORAL_TLS_KEY, value: /etc/muster/temporal-client/tls.key}
{{- end }}
{{- if $v.temporal.apiKey.existingSecret }}
- name: MUSTER_TEMPORAL_API_KEY
  valueFrom:
    secretKeyRef: {name: {{ $v.temporal.apiKey.existingSecret | quote }}, key: {{ $v.temporal.apiKey.key | quote }}}
{{- end }}
{{- if and (include "muster.macKeySecret" .root) (or $serves (eq .part "images")) }}
- {name: MUSTER_MAC_KEY_FILE, value: /etc/muster/mac-key/mac-key}
{{- end }}
{{- with $v.temporal.uiUrl }}
- {name: MUSTER_TEMPORAL_UI_URL, value: {{ . | quote }}}
{{- end }}
{{- if or $v.platformCa.secret $v.platformCa.configMap }}
- {name: MUSTER_CA_FILE, value: /etc/muster/platform-ca/ca.crt}
{{- end }}
{{- end }}
{{- if $serves }}
- {name: MUSTER_SECRETS, value: kubernetes}
- {name: MUSTER_CONFIGMAPS, value: kubernetes}
- {name: MUSTER_SECRETS_NAMESPACE, value: {{ $jobs | quote }}}
- {name: MUSTER_RUNNER, value: kubernetes}
- {name: MUSTER_RUNNER_PROFILE, value: {{ $v.runner.profile }}}
- {name: MUSTER_RUNNER_AEE_IMAGE, value: {{ include "muster.image" (dict "root" .root "image" $v.images.aee) | quote }}}
- {name: MUSTER_RUNNER_UTIL_IMAGE, value: {{ include "muster.image" (dict "root" .root "image" $v.images.util) | quote }}}
- {name: MUSTER_RUNNER_PULL_POLICY, value: {{ $v.images.pullPolicy }}}
- {name: MUSTER_RUNNER_REQUESTS, value: {{ include "muster.quantities" $v.runner.requests | quote }}}
- {name: MUSTER_RUNNER_LIMITS, value: {{ include "muster.quantities" $v.runner.limits | quote }}}
- {name: MUSTER_RUNNER_NODE_SELECTOR, value: {{ toJson $v.runner.nodeSelector | quote }}}
- {name: MUSTER_RUNNER_TOLERATIONS, value: {{ toJson $v.runner.tolerations | quote }}}
- {name: MUSTER_RUNNER_SERVICE_ACCOUNT, value: {{ include "muster.runnerAccount" .root | quote }}}
- {name: MUSTER_RUNNER_INGEST_URL, value: {{ default (printf "%s://%s-ingest.%s.svc:%v" (include "muster.scheme" .root) $full $space $v.ingest.port) $v.ingest.url | quote }}}
{{- if eq $v.runner.profile "compatible" }}
- {name: MUSTER_RUNNER_API_URL, value: {{ default (printf "%s://%s.%s.svc:%v" (include "muster.scheme" .root) $full $space $v.api.service.port) $v.runner.apiUrl | quote }}}
{{- end }}
- {name: MUSTER_RUNNER_SIDECAR_WAIT, value: {{ ternary "1" "0" $v.runner.sidecarWait | quote }}}
- {name: MUSTER_RUNNER_WORKSPACE_SIZE, value: {{ $v.runner.workspace.size | quote }}}
{{- with $v.runner.workspace.medium }}
- {name: MUSTER_RUNNER_WORKSPACE_MEDIUM, value: {{ . | quote }}}
{{- end }}
- {name: MUSTER_RUNNER_WAIT, value: {{ include "muster.text" $v.runner.wait | quote }}}
- {name: MUSTER_RUNNER_IMPOSSIBLE, value: {{ include "muster.text" $v.runner.impossible | quote }}}
{{- end }}
{{- if eq .part "api" }}
- {name: MUSTER_API_HOST, value: {{ $address | quote }}}
- {name: MUSTER_API_PORT, value: {{ $flows.ports.api | quote }}}
- {name: MUSTER_INGEST_HOST, value: {{ $address | quote }}}
- {name: MUSTER_INGEST_PORT, value: {{ $v.ingest.port | quote }}}
- {name: MUSTER_PUBLIC_URL, value: {{ default (printf "%s://%s.%s.svc:%v" (include "muster.scheme" .root) $full $space $v.api.service.port) $v.api.publicUrl | quote }}}
{{- $own := list $full (printf "%s.%s" $full $space) (printf "%s.%s.svc" $full $space) (printf "%s.%s.svc.cluster.local" $full $space) }}
{{- $hosts := concat $own $v.api.allowedHosts }}
{{- if $v.ingress.enabled }}{{ $hosts = append $hosts $v.ingress.host }}{{ end }}
- {name: MUSTER_ALLOWED_HOSTS, value: {{ join "," $hosts | quote }}}
{{- if eq $v.access.mode "token" }}
- {name: MUSTER_AUTH, value: token}
- {name: MUSTER_ADMIN_TOKEN_FILE, value: /etc/muster/admin-token/token}
{{- with $v.access.oidc }}
{{- range $name, $value := dict "MUSTER_OIDC_ISSUER" .issuer "MUSTER_OIDC_AUDIENCE" .audience "MUSTER_OIDC_JWKS_URL" .jwksUrl "MUSTER_OIDC_ROLES_CLAIM" .rolesClaim "MUSTER_OIDC_ROLE_MAP" .roleMap "MUSTER_OIDC_COMPONENT_CLAIM" .componentClaim }}
{{- with $value }}
- {name: {{ $name }}, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- else }}
- {name: MUSTER_TRUST_GATEWAY, value: "1"}
{{- with $v.access.actorHeader }}
- {name: MUSTER_ACTOR_HEADER, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- if $v.tls.existingSecret }}
- {name: MUSTER_TLS_CERT, value: /etc/muster/tls/tls.crt}
- {name: MUSTER_TLS_KEY, value: /etc/muster/tls/tls.key}
{{- end }}
{{- end }}
{{- if eq .part "worker" }}
- {name: MUSTER_WORKER_ROLE, value: sessions}
- {name: MUSTER_WORKER_PROBES, value: {{ printf "%s:%v" $listen $flows.ports.probes | quote }}}
{{- if $v.ara.credentials.existingSecret }}
- {name: MUSTER_ARA_CREDENTIALS_FILE, value: /etc/muster/ara-credentials/credentials.json}
{{- end }}
{{- if $v.worker.metricsPort }}
- {name: MUSTER_TEMPORAL_METRICS, value: {{ printf "%s:%v" $listen $v.worker.metricsPort | quote }}}
{{- end }}
{{- end }}
{{- if $serves }}
- {name: MUSTER_IMAGE_SERVICE, value: {{ ternary "1" "0" $v.imageService.enabled | quote }}}
{{- end }}
{{- if and $v.imageService.enabled (or (eq .part "api") (eq .part "images")) }}
- {name: MUSTER_IMAGES_DIR, value: /var/lib/muster-images}
{{- end }}
{{- if eq .part "images" }}
- {name: MUSTER_WORKER_ROLE, value: images}
- {name: MUSTER_WORKER_PROBES, value: {{ printf "%s:%v" $listen $flows.ports.probes | quote }}}
- {name: MUSTER_IMAGE_JOBS_DIR, value: /var/lib/muster-image-jobs}
- {name: MUSTER_IMAGES_OWNER, value: "1000:1000"}
- {name: MUSTER_IMAGE_PORTS, value: {{ $flows.ports.shells | quote }}}
- name: MUSTER_IMAGE_HOST
  valueFrom:
    fieldRef: {fieldPath: status.podIP}
- {name: MUSTER_IMAGE_PUBLIC_HOST, value: {{ $full }}-images.{{ $space }}.svc}
{{- end }}
{{- if or $serves (eq .part "images") }}
{{- range $name, $value := $v.settings }}
- {name: {{ $name }}, value: {{ include "muster.text" $value | quote }}}
{{- end }}
{{- end }}
{{- if $serves }}
{{- range $name, $from := $v.secretSettings }}
{{- if hasKey $v.settings $name }}{{ fail (printf "%s is in settings and in secretSettings" $name) }}{{ end }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: {name: {{ $from.secret | quote }}, key: {{ $from.key | quote }}}
{{- end }}
{{- end }}
{{- end -}}
