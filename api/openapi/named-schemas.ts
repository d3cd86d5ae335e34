/** Schemas that have a name in the documents; all others are written where they are used. */
import type { z } from 'zod';
import { TokenCreatedSchema, TokenCreateSchema, TokenSchema } from '../../domain/access/schema.ts';
import {
  ComponentBodySchema,
  ComponentFilterPatchSchema,
  ComponentSchema,
  ComponentViewSchema,
  DesiredLayerSchema,
  StateAppendSchema,
  StateLayerInputSchema,
  StateLayerSchema,
} from '../../domain/components/schema.ts';
import { V2Component, V2ComponentBody, V2ComponentView } from '../../domain/components/v2-schema.ts';
import {
  AdditionalInventorySchema,
  CfsOptionsSchema,
  ConfigurationBodySchema,
  ConfigurationSchema,
  LayerSchema,
  OptionsPatchSchema,
  OptionsSchema,
  SourceCreateSchema,
  SourcePatchSchema,
  SourceRestoreSchema,
  SourceSchema,
  StoredLayerSchema,
} from '../../domain/configurations/schema.ts';
import {
  V2Configuration,
  V2ConfigurationBody,
  V2Options,
  V2OptionsPatch,
} from '../../domain/configurations/v2-schema.ts';
import { RunSchema } from '../../domain/runs/run-schema.ts';
import { LogEntrySchema, SessionEventSchema } from '../../domain/runs/stream-schema.ts';
import {
  SessionDetailSchema,
  SessionHostSchema,
  SessionItemSchema,
  SessionProgressSchema,
} from '../../domain/sessions/detail-schema.ts';
import {
  SessionCancelSchema,
  SessionCreateSchema,
  SessionRetrySchema,
  SessionSchema,
  SnapshotSchema,
  TargetBodySchema,
  TargetSchema,
} from '../../domain/sessions/schema.ts';
import { V2Session, V2SessionCreate } from '../../domain/sessions/v2-schema.ts';

/** In requests. */
export const NAMED_REQUESTS: Record<string, z.ZodType> = {
  ComponentBody: ComponentBodySchema,
  ComponentFilterPatch: ComponentFilterPatchSchema,
  StateLayerBody: StateLayerInputSchema,
  StateAppend: StateAppendSchema,
  ConfigurationBody: ConfigurationBodySchema,
  LayerBody: LayerSchema,
  AdditionalInventoryBody: AdditionalInventorySchema,
  OptionsPatch: OptionsPatchSchema,
  SourceCreate: SourceCreateSchema,
  SourcePatch: SourcePatchSchema,
  SourceRestore: SourceRestoreSchema,
  SessionCreate: SessionCreateSchema,
  TargetBody: TargetBodySchema,
  SessionCancel: SessionCancelSchema,
  SessionRetry: SessionRetrySchema,
  TokenCreate: TokenCreateSchema,
  ComponentBodyV2: V2ComponentBody.input,
  ConfigurationBodyV2: V2ConfigurationBody.input,
  OptionsPatchV2: V2OptionsPatch.input,
  SessionCreateV2: V2SessionCreate.input,
};

/** In answers. */
export const NAMED_ANSWERS: Record<string, z.ZodType> = {
  Component: ComponentSchema,
  ComponentView: ComponentViewSchema,
  StateLayer: StateLayerSchema,
  DesiredLayer: DesiredLayerSchema,
  Configuration: ConfigurationSchema,
  Layer: StoredLayerSchema,
  Options: CfsOptionsSchema,
  MusterOptions: OptionsSchema,
  Source: SourceSchema,
  Session: SessionSchema,
  Target: TargetSchema,
  Snapshot: SnapshotSchema,
  SessionItem: SessionItemSchema,
  SessionDetail: SessionDetailSchema,
  SessionProgress: SessionProgressSchema,
  SessionEvent: SessionEventSchema,
  SessionHost: SessionHostSchema,
  LogEntry: LogEntrySchema,
  Run: RunSchema,
  ComponentV2: V2Component.object,
  ComponentViewV2: V2ComponentView.object,
  ConfigurationV2: V2Configuration.object,
  OptionsV2: V2Options.object,
  SessionV2: V2Session.object,
  Token: TokenSchema,
  TokenCreated: TokenCreatedSchema,
};
