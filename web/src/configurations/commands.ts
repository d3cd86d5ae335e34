/** What the pages of configurations do, as commands. */
import type { ConfigurationBody } from '../../../domain/configurations/schema.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';

/** Returns the command that writes a configuration. */
export function applyCommand(name: string, body: ConfigurationBody, reason: string): string {
  const why = reason === '' ? '' : ` --reason ${shellWord(reason)}`;
  return `printf %s ${shellWord(JSON.stringify({ name, ...body }))} | ./muster configuration apply -f -${why}`;
}

/** Returns the request that writes it, on the version that the page has read. */
export function putCommand(url: string, body: ConfigurationBody, tag: string | null, reason: string): string {
  const command = curlCommand('PUT', url, body, reason);
  return tag === null
    ? command
    : command.replace('curl -X PUT', () => `curl -X PUT -H ${shellWord(`If-Match: ${tag}`)}`);
}
