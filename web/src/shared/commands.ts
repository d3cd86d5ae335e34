/** Commands that say what a page shows or does. */

/** Returns a word as a shell takes it unchanged. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns a command of curl for a request, with the reason of a write; the token stays the user's own.
 * @param variables as of `printed`
 */
export function curlCommand(
  method: string,
  url: string,
  body?: unknown,
  reason = '',
  variables: readonly string[] = [],
): string {
  const why = reason === '' ? '' : ` -H ${shellWord(`Muster-Reason: ${encodeURIComponent(reason)}`)}`;
  const isSecret = hasVariable(body, variables);
  const given = isSecret ? '@-' : shellWord(JSON.stringify(body) ?? '');
  const data = body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${given}`;
  const command = `curl -X ${method} -H "Authorization: Bearer $MUSTER_TOKEN"${why}${data} ${shellWord(url)}`;
  return isSecret ? `${printed(body, variables)} | ${command}` : command;
}

/**
 * Returns a request with a body as a command of Muster, which reads the body from stdin.
 * @param variables as of `printed`
 */
export function apiCommand(method: string, path: string, body: unknown, variables: readonly string[] = []): string {
  return `${printed(body, variables)} | ./muster api ${method} ${shellWord(path)} -d -`;
}

/**
 * Returns what writes a value as JSON to stdin of the next command: no list of processes has it.
 * @param variables texts such as `$SECRET`: where one is a whole text of the value, jq puts in the exported variable, whatever is in it
 */
export function printed(value: unknown, variables: readonly string[] = []): string {
  const json = JSON.stringify(value);
  if (!hasVariable(value, variables)) return `printf %s ${shellWord(json)}`;
  // JSON is a program of jq that answers itself.
  const program = variables.reduce((text, name) => text.replaceAll(`:"${name}"`, `:env.${name.slice(1)}`), json);
  return `jq -n ${shellWord(program)}`;
}

const hasVariable = (value: unknown, variables: readonly string[]): boolean =>
  variables.some((name) => JSON.stringify(value)?.includes(`:"${name}"`));
