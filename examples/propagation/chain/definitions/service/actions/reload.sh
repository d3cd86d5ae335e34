# What a real service would do by a signal: it is written down here.
echo reloaded >> {{ (dir ~ '/' ~ resource_name ~ '.log') | quote }}
