{{- define "model-proxy.labels" -}}
app.kubernetes.io/name: model-proxy
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "model-proxy.allLabels" -}}
{{ include "model-proxy.labels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "model-proxy.image" -}}
{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The user and rights that pods and the migration share. */}}
{{- define "model-proxy.podSecurity" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  # The image's user `bun`.
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "model-proxy.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* Settings, and the files of the secret ones. */}}
{{- define "model-proxy.environment" -}}
env:
  - { name: OPERATOR_COMMAND, value: {{ printf "kubectl exec -n %s deploy/%s -- model-proxy" .Release.Namespace .Release.Name | quote }} }
  {{- range $name, $value := .Values.settings }}
  - { name: {{ $name }}, value: {{ $value | quote }} }
  {{- end }}
  {{- range $name, $_ := .Values.secrets }}
  - { name: {{ $name }}_FILE, value: /run/secrets/model-proxy/{{ $name }} }
  {{- end }}
volumeMounts:
  - { name: secrets, mountPath: /run/secrets/model-proxy, readOnly: true }
  - { name: scratch, mountPath: /tmp, subPath: tmp }
  - { name: scratch, mountPath: /data, subPath: data }
{{- end }}

{{- define "model-proxy.volumes" -}}
volumes:
  - name: secrets
    projected:
      defaultMode: 0440
      sources:
        {{- range $name, $at := .Values.secrets }}
        - secret: { name: {{ $at.name | quote }}, items: [{ key: {{ $at.key | quote }}, path: {{ $name }} }] }
        {{- end }}
  - { name: scratch, emptyDir: {} }
{{- end }}
