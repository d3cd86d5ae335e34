import { type Command, Option } from 'commander';
import {
  DELIVERY_STATES,
  type DeliveryView,
  WEBHOOK_EVENTS,
  type WebhookCreated,
  type WebhookView,
} from '../../../domain/webhooks/webhook-schema.ts';
import { segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { readSecretValue } from '../../input/secret-value.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
  withServer,
} from '../../options.ts';
import { cell, type View } from '../../output/columns.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderValue, writeData, writeList } from '../../output/render.ts';

const PATH = '/api/v1/webhooks';

interface ChangeOptions extends OutputOptions, WriteOptions {
  to?: string;
  event?: string[];
  enable?: boolean;
  disable?: boolean;
  privateRedirects?: boolean;
}

const view: View<WebhookView> = {
  noun: 'webhooks',
  name: (webhook) => webhook.name,
  columns: [
    { title: 'NAME', value: (webhook) => webhook.name },
    { title: 'ENABLED', value: (webhook) => String(webhook.enabled) },
    { title: 'EVENTS', value: (webhook) => webhook.events.join(',') },
    { title: 'WAITING', value: (webhook) => String(webhook.waiting) },
    { title: 'URL', value: (webhook) => webhook.url },
    { title: 'BY', value: (webhook) => cell(webhook.updated_by), wide: true },
  ],
};

const deliveryView: View<DeliveryView> = {
  noun: 'deliveries',
  name: (delivery) => delivery.id,
  columns: [
    { title: 'MADE', value: (delivery) => delivery.created_at },
    { title: 'EVENT', value: (delivery) => delivery.event },
    { title: 'ABOUT', value: (delivery) => cell(aboutOf(delivery)) },
    { title: 'STATE', value: (delivery) => delivery.state },
    { title: 'TRIES', value: (delivery) => String(delivery.attempts) },
    { title: 'ERROR', value: (delivery) => cell(delivery.last_error) },
    { title: 'ID', value: (delivery) => delivery.id, wide: true },
  ],
};

function aboutOf({ data }: DeliveryView): string | null {
  const about = data.name ?? data.id ?? data.configuration;
  return typeof about === 'string' ? about : null;
}

/** The body of a request; `--dry-run=request` shows no more of the address than any answer does. */
async function bodyOf(context: CliContext, name: string, options: ChangeOptions) {
  const { to, event, enable, disable, privateRedirects, dryRunRequest } = options;
  const enabled = enable ? true : disable ? false : undefined;
  const url = to === '-' ? await readSecretValue(context, `address of ${name}`, `${EXAMPLE} ${name} ... < FILE`) : to;
  const shown = url !== undefined && dryRunRequest ? '********' : url;
  return { url: shown, events: event, enabled, allow_private_redirects: privateRedirects };
}

const EXAMPLE = './muster webhook update --to -';
const TO = 'where to send to, by POST; - reads it from stdin, so that no process list has it';

const eventOption = () =>
  new Option('--event <event...>', 'what it is told of; may be repeated').choices([...WEBHOOK_EVENTS]);
const REDIRECTS = 'redirects may lead to loopback and private addresses';

/** `muster webhook ...`; the secret of a new one is written to stdout once and nowhere else. */
export function webhookCommands(program: Command, context: CliContext): void {
  const noun = program.command('webhook').description('who is told what happened');

  withDryRun(withOutput(noun.command('create')))
    .description('make a webhook and write the key of its signatures to stdout, the only time that it is shown')
    .argument('<name>')
    .requiredOption('--to <url>', TO)
    .addOption(eventOption().makeOptionMandatory())
    .option('--disable', 'tell it nothing yet')
    .option('--private-redirects', REDIRECTS)
    .action(async (name: string, options: ChangeOptions) => {
      const body = { name, ...(await bodyOf(context, name, options)) };
      const request = { method: 'POST', path: PATH, body } as const;
      const created = await perform<WebhookCreated>(context, apiOf(context, options), request, options);
      if (created === undefined) return;
      const { output } = options;
      writeData(context, isValueFormat(output) ? await renderValue(created, output) : `${created.secret}\n`);
      say(context, `webhook ${created.name} created; its secret is not shown again`);
    });

  withLimit(withOutput(noun.command('list')))
    .description('list webhooks')
    .action(async (options: OutputOptions & { limit?: number }) => {
      const webhooks = await allPages<WebhookView>(apiOf(context, options), PATH, 'webhooks', {}, options.limit);
      await writeList(context, view, webhooks, options);
    });

  withOutput(noun.command('get'))
    .description('show a webhook')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions) => {
      const request = { method: 'GET', path: `${PATH}/${segment(name)}` } as const;
      const webhook = await apiOf(context, options).json<WebhookView>(request);
      await writeList(context, view, [webhook], options);
    });

  withDryRun(withServer(noun.command('update')))
    .description('change a webhook')
    .argument('<name>')
    .option('--to <url>', TO)
    .addOption(eventOption())
    .option('--enable', 'tell it again')
    .addOption(new Option('--disable', 'tell it nothing').conflicts('enable'))
    .option('--private-redirects', REDIRECTS)
    .option('--no-private-redirects', 'they may not')
    .action(async (name: string, options: ChangeOptions) => {
      const body = await bodyOf(context, name, options);
      const request = { method: 'PATCH', path: `${PATH}/${segment(name)}`, body } as const;
      await perform(context, apiOf(context, options), request, options);
      if (!options.dryRun) say(context, `webhook ${name} changed`);
    });

  withDryRun(withServer(noun.command('delete')))
    .description('remove webhooks with what they were still to be told')
    .argument('<name...>')
    .action(async (names: string[], options: WriteOptions) => {
      const api = apiOf(context, options);
      for (const name of names) {
        await perform(context, api, { method: 'DELETE', path: `${PATH}/${segment(name)}` }, options);
        if (!options.dryRun) say(context, `webhook ${name} deleted`);
      }
    });

  withDryRun(withServer(noun.command('test')))
    .description('send a ping on its way; `webhook deliveries` shows what became of it')
    .argument('<name>')
    .action(async (name: string, options: WriteOptions) => {
      const request = { method: 'POST', path: `${PATH}/${segment(name)}/test` } as const;
      const sent = await perform<DeliveryView>(context, apiOf(context, options), request, options);
      if (sent !== undefined) say(context, `ping ${sent.id} is on its way`);
    });

  withLimit(withOutput(noun.command('deliveries')))
    .description('what a webhook was told, newest first')
    .argument('<name>')
    .addOption(new Option('--state <state>', 'only of this state').choices([...DELIVERY_STATES]))
    .action(async (name: string, options: OutputOptions & { limit?: number; state?: string }) => {
      const { limit, state } = options;
      const path = `${PATH}/${segment(name)}/deliveries`;
      const deliveries = await allPages<DeliveryView>(apiOf(context, options), path, 'deliveries', { state }, limit);
      await writeList(context, deliveryView, deliveries, options);
    });
}
