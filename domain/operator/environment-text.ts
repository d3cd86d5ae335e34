/** What may follow a dollar sign as a name of a single character. */
const SPECIAL = /^[*#$@!?\-0-9]$/;
const WORD = /[A-Za-z0-9_]*/y;

/**
 * Returns the raw text of a `watches.yaml` with `${NAME}` and `$NAME` replaced by values of the environment. An undefined name leaves
 * `${NAME}`. `${}` and the `${` of an unclosed name are swallowed. Any other `$` stays; there is no way to escape it.
 */
export function expandEnvironment(text: string, env: Readonly<Record<string, string | undefined>>): string {
  let expanded = '';
  let from = 0;
  for (let at = text.indexOf('$'); at >= 0 && at + 1 < text.length; at = text.indexOf('$', from)) {
    const { name, length } = nameAt(text, at + 1);
    expanded += text.slice(from, at);
    if (name !== '') expanded += Object.hasOwn(env, name) ? (env[name] ?? `\${${name}}`) : `\${${name}}`;
    else if (length === 0) expanded += '$';
    from = at + 1 + length;
  }
  return expanded + text.slice(from);
}

/** The name behind a dollar sign, and how many characters belong to it; an empty name with a length is to be swallowed. */
function nameAt(text: string, at: number): { name: string; length: number } {
  const first = text[at] ?? '';
  if (first === '{') {
    if (SPECIAL.test(text[at + 1] ?? '') && text[at + 2] === '}') return { name: text[at + 1] ?? '', length: 3 };
    const end = text.indexOf('}', at + 1);
    if (end < 0) return { name: '', length: 1 };
    return { name: text.slice(at + 1, end), length: end - at + 1 };
  }
  if (SPECIAL.test(first)) return { name: first, length: 1 };
  WORD.lastIndex = at;
  const name = WORD.exec(text)?.[0] ?? '';
  return { name, length: name.length };
}
