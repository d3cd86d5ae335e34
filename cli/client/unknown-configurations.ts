import { CliFailure } from '../failure.ts';
import { someOf } from '../output/names.ts';
import { type ApiClient, segment } from './api-client.ts';

/** Says which desired configurations of the records are not there: nothing configures such a component. Returns undefined for none. */
export async function unknownConfigurations(
  api: ApiClient,
  records: readonly Record<string, unknown>[],
): Promise<string | undefined> {
  const wanted = new Set(
    records.flatMap(({ desired_config: name }) => (typeof name === 'string' && name ? [name] : [])),
  );
  const missing: string[] = [];
  for (const name of wanted) {
    try {
      await api.json({ method: 'GET', path: `/v3/configurations/${segment(name)}` });
    } catch (error) {
      // The records are written: only that the configuration is missing is worth a word.
      if (!(error instanceof CliFailure)) throw error;
      if (error.code === 'configuration_not_found') missing.push(name);
    }
  }
  if (missing.length === 0) return undefined;
  return `there is no configuration ${someOf(missing, ' and no configuration ')}; \`./muster batch list\` shows the components that wait for it`;
}
