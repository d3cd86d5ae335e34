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
