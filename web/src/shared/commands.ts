/** Commands that say what a page shows or does. */

/** Returns a word as a shell takes it unchanged. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns a command of curl for a request, with the reason of a write; the token stays the user's own. */
export function curlCommand(method: string, url: string, body?: unknown, reason = ''): string {
  const why = reason === '' ? '' : ` -H ${shellWord(`Muster-Reason: ${encodeURIComponent(reason)}`)}`;
  const data = body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}`;
  return `curl -X ${method} -H "Authorization: Bearer $MUSTER_TOKEN"${why}${data} ${shellWord(url)}`;
}

/** Returns a request with a body as a command of Muster, which reads the body from stdin. */
export function apiCommand(method: string, path: string, body: unknown): string {
  return `${printed(body)} | ./muster api ${method} ${shellWord(path)} -d -`;
}

/** Returns what writes a value as JSON to stdin of the next command: no list of processes has it. */
export const printed = (value: unknown): string => `printf %s ${shellWord(JSON.stringify(value))}`;

/** Returns a command of which texts such as `$SECRET`, quoted whole by it, are put in by the shell that runs it. */
export function withVariables(command: string, variables: readonly string[]): string {
  return variables.reduce((text, variable) => text.replaceAll(`"${variable}"`, `"'"${variable}"'"`), command);
}
