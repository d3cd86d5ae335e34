/** What the pages of configurations do, as commands. */
import type { ConfigurationBody } from '../../../domain/configurations/schema.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';

/** Returns the command that writes a configuration. */
export function applyCommand(name: string, body: ConfigurationBody, reason: string): string {
  const why = reason === '' ? '' : ` --reason ${shellWord(reason)}`;
  return `printf %s ${shellWord(JSON.stringify({ name, ...body }))} | ./muster configuration apply -f -${why}`;
}

/** Returns the request that writes it, on the version that the page has read; null: where there is none. */
export function putCommand(url: string, body: ConfigurationBody, tag: string | null, reason: string): string {
  const demand = tag === null ? 'If-None-Match: *' : `If-Match: ${tag}`;
  return curlCommand('PUT', url, body, reason).replace('curl -X PUT', () => `curl -X PUT -H ${shellWord(demand)}`);
}
