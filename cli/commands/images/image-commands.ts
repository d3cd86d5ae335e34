import { type Command, InvalidArgumentError, Option } from 'commander';
import { ARCHITECTURES } from '../../../domain/images/image-words.ts';
import type { StoredImageView } from '../../../domain/images/schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
  withReason,
  withServer,
} from '../../options.ts';
import { cell, type View } from '../../output/columns.ts';
import { someOf } from '../../output/names.ts';
import { writeList } from '../../output/render.ts';
import { receiveFile, sendFile } from './image-transfer.ts';

const PATH = '/api/v1/images';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const view: View<StoredImageView> = {
  noun: 'images',
  name: (image) => image.id,
  columns: [
    { title: 'ID', value: (image) => image.id },
    { title: 'NAME', value: (image) => image.name },
    { title: 'ARCH', value: (image) => image.arch },
    { title: 'FORMAT', value: (image) => cell(image.format) },
    { title: 'SIZE', value: (image) => (image.size === null ? '' : sizeText(image.size)) },
    { title: 'CREATED', value: (image) => image.created },
    { title: 'MADE FROM', value: (image) => cell(image.made_from), wide: true },
    { title: 'SHA256', value: (image) => cell(image.sha256), wide: true },
  ],
};

interface ImportOptions extends OutputOptions {
  name?: string;
  arch: string;
  sha256?: string;
}

/** Bytes for people. */
function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

function digest(text: string): string {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new InvalidArgumentError('It must be 64 hexadecimal digits.');
  return text.toLowerCase();
}

/** `muster image ...`: root file systems that sessions customise. */
export function imageCommands(program: Command, context: CliContext): void {
  const noun = program.command('image').description('root file systems that sessions customise');

  withLimit(withOutput(noun.command('list')))
    .description('list images')
    .action(async (options: OutputOptions & { limit?: number }) => {
      const images = await allPages<StoredImageView>(apiOf(context, options), PATH, 'images', {}, options.limit);
      await writeList(context, view, images, options);
    });

  withOutput(noun.command('get'))
    .description('show an image')
    .argument('<image>', 'id, or a name that only one has')
    .action(async (named: string, options: OutputOptions) => {
      await writeList(context, view, [await imageOf(apiOf(context, options), named)], options);
    });

  withReason(withOutput(noun.command('import')))
    .description('make an image of a root file system: a tar, a tar.gz, a squashfs or a folder')
    .argument('<file>', 'the file or folder; - for a file from stdin')
    .option('--name <name>', 'what to call it (default: its own)')
    .addOption(new Option('--arch <arch>', 'for which processors').choices([...ARCHITECTURES]).default('x86_64'))
    .option('--sha256 <digest>', 'refuse the file if it has another checksum', digest)
    .action(async (file: string, options: ImportOptions) => {
      const { name, arch, sha256, output } = options;
      const query = { name, arch, sha256 };
      const image = await sendFile(context, apiOf(context, options), PATH, file, query);
      await writeList(context, view, [image], output);
      say(context, `image ${image.name} imported: ${sizeText(image.size ?? 0)}, ${image.format}`);
    });

  withServer(noun.command('export'))
    .description('write the file of an image')
    .argument('<image>', 'id, or a name that only one has')
    .argument('<file>', 'where to')
    .option('--force', 'replace the file if it is there')
    .action(async (named: string, file: string, options: { url?: string; force?: boolean }) => {
      const api = apiOf(context, options);
      const image = await imageOf(api, named);
      const size = await receiveFile(context, api, `${PATH}/${segment(image.id)}/content`, file, {
        force: options.force ?? false,
        sha256: image.sha256,
        total: image.size,
      });
      say(context, `image ${image.name} exported to ${file}: ${sizeText(size)}, ${image.format}`);
    });

  withDryRun(withServer(noun.command('delete')))
    .description('remove images with their files')
    .argument('<image...>', 'ids, or names that only one has')
    .action(async (named: string[], options: WriteOptions) => {
      const api = apiOf(context, options);
      for (const each of named) {
        const { id } = await imageOf(api, each);
        await perform(context, api, { method: 'DELETE', path: `${PATH}/${segment(id)}` }, options);
        if (!options.dryRun) say(context, `image ${each} deleted`);
      }
    });
}

/** The image of an id, or the only one of a name. */
async function imageOf(api: ApiClient, named: string): Promise<StoredImageView> {
  if (UUID.test(named)) return api.json({ method: 'GET', path: `${PATH}/${segment(named)}` });
  const found = (await allPages<StoredImageView>(api, PATH, 'images')).filter(({ name }) => name === named);
  if (found[0] !== undefined && found.length === 1) return found[0];
  if (found.length === 0) throw new CliFailure('image_not_found', `there is no image ${named}`, EXIT.notFound);
  const ids = someOf(found.map(({ id }) => id));
  throw new CliFailure(
    'ambiguous',
    `${found.length} images have the name ${named}`,
    EXIT.usage,
    `name one by its id: ${ids}`,
  );
}
