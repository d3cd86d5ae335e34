import { type Command, Option } from 'commander';
import type { AttemptView, NodeEvent } from '../../../domain/propagation/plan-request-schema.ts';
import type { Explanation } from '../../../domain/propagation/plan-schema.ts';
import { PLAN_STATES } from '../../../domain/propagation/plan-states.ts';
import type { PlanNodeView, PlanReport, PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import { type ApiRequest, segment } from '../../client/api-client.ts';
import { eventStream } from '../../client/event-stream.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { connectionNotes, copyLogs, followLogs } from '../../follow/follow-logs.ts';
import { integer } from '../../input/pairs.ts';
import { apiOf, type OutputOptions, type ServerOptions, withLimit, withOutput, withServer } from '../../options.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderOne, renderValue, writeData, writeList } from '../../output/render.ts';
import { manyLines } from '../../terminal/neutralise.ts';
import { nodePath, PLANS, planId, planPath } from './plan-name.ts';
import { nodeEventView, nodeView, planDetails, planView } from './plan-view.ts';
import { nodeEventLine } from './plan-words.ts';
import { painted } from './status-colours.ts';

const PLAN = 'id of the plan, how it begins, or last, last1, ...';
/** Transitions in one page. */
const EVENT_PAGE = 1_000;

/** The verbs of `muster plan` that read. */
export function planReadCommands(noun: Command, context: CliContext): void {
  withLimit(withOutput(noun.command('list')))
    .description('list plans, newest first')
    .addOption(new Option('--state <state>', 'only plans in this state').choices([...PLAN_STATES]))
    .action(async ({ state, limit, ...options }: OutputOptions & { state?: string; limit?: number }) => {
      const plans = await allPages<PlanView>(apiOf(context, options), PLANS, 'plans', { state }, limit);
      await writeList(context, planView, plans, options.output);
    });

  withOutput(noun.command('get'))
    .description('show a plan: how it stands, its loops, what became of it')
    .argument('<plan>', PLAN)
    .action(async (word: string, options: OutputOptions) => {
      const api = apiOf(context, options);
      const plan = await api.json<PlanView>({ method: 'GET', path: planPath(await planId(api, word)) });
      writeData(context, await renderOne(planView, plan, options.output, planDetails));
    });

  withLimit(withOutput(noun.command('nodes')))
    .description('list the nodes of a plan in canonical order')
    .argument('<plan>', PLAN)
    .action(async (word: string, options: OutputOptions & { limit?: number }) => {
      const api = apiOf(context, options);
      const path = `${planPath(await planId(api, word))}/nodes`;
      await writeList(
        context,
        nodeView,
        await allPages<PlanNodeView>(api, path, 'nodes', {}, options.limit),
        options.output,
      );
    });

  withOutput(noun.command('report'))
    .description('report what has become of a plan, node by node')
    .argument('<plan>', PLAN)
    .action(async (word: string, options: OutputOptions) => {
      const api = apiOf(context, options);
      await writeReport(context, api, planPath(await planId(api, word)), options);
    });

  withOutput(noun.command('explain'))
    .description('say why a node stands in a plan, and what the events into it made of it')
    .argument('<plan>', PLAN)
    .argument('<node>', 'resource.action; resource.action#0 or #1 where it runs twice')
    .action(async (word: string, node: string, { output, ...options }: OutputOptions) => {
      const api = apiOf(context, options);
      const path = `${nodePath(await planId(api, word), node)}/explain`;
      const explanation = await api.json<Explanation>({ method: 'GET', path });
      if (isValueFormat(output)) return writeData(context, await renderValue(explanation, output));
      const { explanationText } = await import('./simulate-file.ts');
      writeData(context, explanationText(explanation));
    });

  withServer(noun.command('graph'))
    .description('show the graph of a plan with its statuses')
    .argument('<plan>', PLAN)
    .option('--dot', 'in the language of Graphviz; default: a tree')
    .option('--around <node>', 'only the part around a node')
    .option('--depth <steps>', 'with --around: how far (default: 1)', integer(0))
    .action(async (word: string, options: ServerOptions & { dot?: boolean; around?: string; depth?: number }) => {
      const { dot, around, depth } = options;
      if (depth !== undefined && around === undefined) throw usage('--depth needs --around NODE');
      const api = apiOf(context, options);
      const path = `${planPath(await planId(api, word))}/graph`;
      const headers = { accept: dot ? 'text/vnd.graphviz' : 'text/plain' };
      const response = await api.open({ method: 'GET', path, query: { around, depth } }, { headers });
      writeData(context, await response.text());
    });

  withServer(noun.command('logs'))
    .description('show what the last attempt of a node has written')
    .argument('<plan>', PLAN)
    .argument('<node>')
    .option('-f, --follow', 'go on until the attempt is over')
    .option('--attempt <number>', 'another attempt', integer(1))
    .action(async (word: string, node: string, options: ServerOptions & { follow?: boolean; attempt?: number }) => {
      const api = apiOf(context, options);
      const path = `${nodePath(await planId(api, word), node)}/attempts`;
      const { attempts } = await api.json<{ attempts: AttemptView[] }>({ method: 'GET', path });
      const { attempt: number } = options;
      const chosen = number === undefined ? attempts.at(-1) : attempts.find((attempt) => attempt.number === number);
      if (chosen === undefined) {
        const which = number === undefined ? 'no attempt yet' : `no attempt ${number}`;
        throw new CliFailure('attempt_not_found', `node ${node} has ${which}`, EXIT.notFound);
      }
      const logs = `/api/v1/propagation/attempts/${segment(chosen.id)}`;
      if (options.follow) await followLogs(context, api, logs, {});
      else await copyLogs(context, api, logs, {});
    });

  withLimit(withOutput(noun.command('events')))
    .description('list how the nodes of a plan went on, transition by transition')
    .argument('<plan>', PLAN)
    .option('-f, --follow', 'go on until the plan ends')
    .action(async (word: string, options: OutputOptions & { follow?: boolean; limit?: number }) => {
      const api = apiOf(context, options);
      const path = `${planPath(await planId(api, word))}/events`;
      if (options.follow) return followEvents(context, api, path, options);
      await writeList(context, nodeEventView, await allEvents(api, path, options.limit), options.output);
    });
}

/** Writes the report of a plan as text, or in the form that is asked for. */
export async function writeReport(
  context: CliContext,
  api: Api,
  path: string,
  { output }: Pick<OutputOptions, 'output'>,
): Promise<void> {
  const request: ApiRequest = { method: 'GET', path: `${path}/report` };
  if (isValueFormat(output)) {
    return writeData(context, await renderValue(await api.json<PlanReport>(request), output));
  }
  const response = await api.open(request, { headers: { accept: 'text/plain' } });
  const text = await response.text();
  // What could steer the terminal is made visible before colours are put in.
  context.out.write(context.out.terminal ? painted(context.out, manyLines(text)) : text);
}

type Api = ReturnType<typeof apiOf>;

async function allEvents(api: Api, path: string, most = Number.POSITIVE_INFINITY): Promise<NodeEvent[]> {
  const events: NodeEvent[] = [];
  for (let after: number | undefined = 0; after !== undefined && events.length < most; ) {
    const query = { after, limit: Math.min(EVENT_PAGE, most - events.length) };
    type Rows = { events: NodeEvent[]; next: { after: number } | null };
    const page: Rows = await api.json<Rows>({ method: 'GET', path, query });
    events.push(...page.events);
    after = page.next?.after;
  }
  return events;
}

async function followEvents(context: CliContext, api: Api, path: string, { output }: OutputOptions): Promise<void> {
  const onEnd = (data: string) => {
    const { state } = JSON.parse(data) as { state: string | null };
    say(context, state === null ? 'the plan was removed' : `the plan has ${state}`);
  };
  const options = { signal: context.signal, onEnd, ...connectionNotes(context) };
  for await (const { data } of eventStream(api, path, options)) {
    writeData(context, isValueFormat(output) ? `${data}\n` : `${nodeEventLine(JSON.parse(data) as NodeEvent)}\n`);
  }
  if (context.signal.aborted) context.exit = EXIT.interrupted;
}
