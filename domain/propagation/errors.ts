import { controller, type ErrorTable, kind } from '../error-kind.ts';

/**
 * What codes of other lanes mean in answers of this lane. A repository that a layer names and that git does not find is a failure of the
 * layer; a repository of definitions that a request names is not there.
 */
export const PROPAGATION_MEANINGS = {
  repository_not_found: kind(404, 'Repository not found', 3, {
    advice: '`./muster repository list` shows the repositories of definitions',
  }),
} satisfies ErrorTable;

/** Definitions, resources, connections, events, changes and plans. */
export const PROPAGATION_ERRORS = {
  repository_exists: kind(409, 'Conflicting repository name', 5),
  repository_in_use: kind(409, 'Repository is in use', 5, {
    advice: '`./muster resource list` shows the resources and their definitions',
  }),
  repository_read_only: kind(409, 'Repository is read-only', 5),
  definition_not_found: kind(404, 'Definition not found', 3, {
    advice: '`./muster repository get NAME` shows the definitions of a repository',
  }),
  definition_exists: kind(409, 'Definition has other content', 5, {
    advice: 'give the definition another version; a version that is stored never changes',
  }),
  invalid_spec: kind(400, 'Definition cannot be named so', 2),
  resource_not_found: kind(404, 'Resource not found', 3, { advice: '`./muster resource list` shows the resources' }),
  resource_exists: kind(409, 'Conflicting resource name', 5),
  input_unknown: kind(404, 'Input not found', 3, {
    advice: '`./muster resource get NAME` shows the inputs of a resource',
  }),
  input_connected: kind(422, 'Input is connected', 2, {
    advice: 'change the value at its source, or remove the connection: `./muster connection remove EMITTER RECEIVER`',
  }),
  validation_failed: kind(422, 'Inputs do not fit', 2),
  value_too_large: kind(413, 'Value is too large', 2),
  secret_by_reference: kind(422, 'Secret must be a reference', 2, {
    advice:
      'store the value with `./muster secret set propagation-NAME KEY`, then name it: {"secret": "propagation-NAME", "key": "KEY"}',
  }),
  secret_not_allowed: kind(422, 'Secret may not be named', 2),
  connection_not_found: kind(404, 'Connection not found', 3, {
    advice: '`./muster connection list` shows the connections',
  }),
  self_connection: kind(422, 'Input is connected to itself', 2),
  input_cycle: kind(422, 'Value would depend on itself', 2),
  tag_syntax: kind(400, 'Tag expression cannot be read', 2),
  event_not_found: kind(404, 'Event not found', 3, { advice: '`./muster event list` shows the events' }),
  event_syntax: kind(400, 'Event cannot be read', 2),
  event_condition: kind(400, 'Condition is not known', 2),
  event_ambiguous: kind(422, 'Event names two things', 2),
  unknown_resource: kind(422, 'Resource does not exist', 2, {
    advice: '`./muster resource list` shows the resources',
  }),
  action_not_defined: kind(422, 'Action is not defined', 2),
  change_not_found: kind(404, 'Change not found', 3, { advice: '`./muster change list` shows the staged changes' }),
  nothing_staged: kind(409, 'Nothing is staged', 5, { advice: '`./muster change stage` looks for changes' }),
  item_in_plan: kind(409, 'Change is in a plan', 5),
  plan_not_found: kind(404, 'Plan not found', 3, { advice: '`./muster plan list` shows the plans' }),
  plan_state: kind(409, 'Plan is in another state', 5),
  node_not_found: kind(404, 'Node not found', 3),
  attempt_not_found: kind(404, 'Attempt not found', 3),
  cycle_not_repeatable: kind(422, 'Loop cannot be resolved', 2),
  plan_cycle: kind(422, 'Plan has a cycle', 2),
  no_path: kind(422, 'No path between the nodes', 2),
  not_computable: kind(422, 'Input is not computable', 2),
  computable_failed: kind(422, 'Input cannot be computed', 2),
  missing_arguments: kind(422, 'Arguments are missing', 2),
  unsafe_value: kind(422, 'Value is not safe here', 2),
  sync_timeout: controller(504, 'Sync came to no end', 6, {
    advice: '`./muster repository sync NAME` tries again; the log of the worker tells what became of the last try',
  }),
  evaluator_unavailable: controller(503, 'Templates cannot be filled in now', 1, { retryable: true }),
  evaluator_failed: controller(500, 'Templates cannot be filled in', 1, {
    advice: '`./muster plan retry PLAN` goes on with the plan once the Python of the worker is mended',
  }),
  graph_too_large: kind(422, 'Graph is too large', 2),
} satisfies ErrorTable;
