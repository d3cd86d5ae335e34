rm -f {{ (dir ~ '/' ~ resource_name ~ '.conf') | quote }}
