import type { Command } from 'commander';
import type { TrustView } from '../../../domain/trust/trust-schema.ts';
import type { CliContext } from '../../context.ts';
import { apiOf, type OutputOptions, type ServerOptions, withOutput, withServer } from '../../options.ts';
import { cell, type View } from '../../output/columns.ts';
import { renderOne, writeData } from '../../output/render.ts';
import { fieldList, table } from '../../output/table.ts';

const PATH = '/api/v1/trust';
const state = (replacedAt: string | null) => (replacedAt === null ? 'signs' : `replaced ${replacedAt}`);

const authorities: View<TrustView['authorities'][number]> = {
  noun: 'authorities',
  name: (authority) => authority.fingerprint,
  columns: [
    { title: 'AUTHORITY', value: (authority) => authority.fingerprint },
    { title: 'SINCE', value: (authority) => authority.since },
    { title: 'STATE', value: (authority) => state(authority.replaced_at) },
    { title: 'PUBLIC KEY', value: (authority) => authority.public_key, wide: true },
  ],
};

const view: View<TrustView> = {
  noun: 'trust',
  name: (trust) => cell(trust.authorities[0]?.fingerprint),
  columns: [
    { title: 'AUTHORITY', value: (trust) => cell(trust.authorities[0]?.fingerprint) },
    { title: 'USERS', value: (trust) => cell(trust.certificate?.principals.join(',')) },
    { title: 'VALID UNTIL', value: (trust) => cell(trust.certificate?.valid_before) },
  ],
};

/** For people: the certificate's fields, then the authorities. */
function details({ authorities: known, certificate }: TrustView, wide: boolean): string {
  const fields = fieldList([
    ['key id', cell(certificate?.key_id)],
    ['users', cell(certificate?.principals.join(', '))],
    ['valid from', cell(certificate?.valid_after)],
    ['valid until', certificate === null ? cell(null) : (certificate.valid_before ?? 'for ever')],
    ...(wide ? [['key', cell(certificate?.public_key)] as [string, string]] : []),
  ]);
  const columns = authorities.columns.filter((column) => wide || !column.wide);
  return `${fields}\n${known.length === 0 ? 'no authority yet\n' : table(columns, known)}`;
}

/** `muster trust ...` */
export function trustCommands(program: Command, context: CliContext): void {
  const noun = program.command('trust').description('what sessions show to hosts, and whom hosts are to trust');

  withOutput(noun.command('show'))
    .description('show the certificate of sessions and the authorities')
    .action(async (options: OutputOptions) => {
      const trust = await apiOf(context, options).json<TrustView>({ method: 'GET', path: PATH });
      writeData(context, await renderOne(view, trust, options.output, details));
    });

  withServer(noun.command('ca'))
    .description('write the public keys for the file that TrustedUserCAKeys of a host names')
    .action(async (options: ServerOptions) => {
      const { authorities: known } = await apiOf(context, options).json<TrustView>({ method: 'GET', path: PATH });
      writeData(context, known.map(({ public_key }) => `${public_key}\n`).join(''));
    });
}
