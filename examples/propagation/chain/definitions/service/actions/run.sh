# Writes the configuration, and says so where nothing was different.
set -eu
mkdir -p {{ dir | quote }}
file={{ (dir ~ '/' ~ resource_name ~ '.conf') | quote }}
if cmp -s templates/service.conf "$file"; then
  echo MUSTER_OUTCOME=ok
else
  install -m 0644 templates/service.conf "$file"
fi
