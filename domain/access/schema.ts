import { z } from 'zod';
import { AFTER_ID_TEXT, KEY_MAX, LIMIT_TEXT, text } from '../schema.ts';
import { isUuid } from '../text/uuid.ts';
import { ROLES } from './roles.ts';

const RoleSchema = z.enum(ROLES);

/** Name of a token, part of the actor that is stored with every write. */
const TokenNameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._@-]{0,98}[A-Za-z0-9])?$/,
    'must have 1 to 100 letters, digits or . _ @ -, and begin and end with a letter or digit',
  )
  // Ids and names share a path.
  .refine((name) => !isUuid(name), { error: 'must not look like the id of a token' });

/** Seconds that a token may live at most: ten years. */
const LONGEST_LIFE = 10 * 366 * 86_400;

/** Body of a new token. */
export const TokenCreateSchema = z
  .strictObject({
    role: RoleSchema,
    name: TokenNameSchema.optional().describe('default: the role and some random digits'),
    component: text(1, KEY_MAX).optional().describe('for the role node: the component it speaks for'),
    expires_in: z.int().min(1).max(LONGEST_LIFE).optional().describe('seconds; default: it does not expire'),
  })
  .superRefine((body, context) => {
    const complain = (message: string) => context.addIssue({ code: 'custom', path: ['component'], message });
    if (body.role === 'node' && body.component === undefined) complain('is needed for the role node');
    if (body.role !== 'node' && body.component !== undefined) complain('goes with the role node only');
  })
  .meta({ id: 'TokenCreate' });
export type TokenCreate = z.infer<typeof TokenCreateSchema>;

/** A token as it is shown: never the token itself. */
export const TokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    role: RoleSchema,
    component: z.string().nullable(),
    created_at: z.string(),
    created_by: z.string().nullable(),
    expires_at: z.string().nullable(),
    expired: z.boolean(),
    last_used_at: z.string().nullable().describe('to about ten minutes'),
  })
  .meta({ id: 'Token' });
export type TokenView = z.infer<typeof TokenSchema>;

/** The answer to a create: the only time that the token is shown. */
export const TokenCreatedSchema = TokenSchema.extend({ token: z.string() }).meta({ id: 'TokenCreated' });
export type TokenCreated = z.infer<typeof TokenCreatedSchema>;

/** Body of a sign-in. */
export const SignInBodySchema = z
  .strictObject({ token: text(1, 16_384).describe('A token of this API; it is not stored') })
  .meta({ id: 'SignInBody' });

/** How a user may sign in here. */
export const SignInMethodsSchema = z
  .object({
    mode: z.enum(['none', 'token']).describe('`none`: a sign-in is not needed'),
    methods: z.array(z.enum(['token'])).describe('What a user may sign in with'),
  })
  .meta({ id: 'SignInMethods' });
export type SignInMethods = z.infer<typeof SignInMethodsSchema>;

/** Answer to a sign-in; what stands for it goes in a cookie. */
export const SignedInSchema = z
  .object({
    name: z.string().describe('As the audit has it'),
    role: RoleSchema,
    expires_at: z.string().describe('When the sign-in ends, unless it is used before'),
  })
  .meta({ id: 'SignedIn' });

/** Who asks, and what there is here. */
export const MeSchema = z
  .object({
    name: z.string().nullable().describe('As the audit has it; null where nobody is known'),
    kind: z.enum(['none', 'header', 'token', 'oidc', 'sign-in']).describe('How the caller is known'),
    role: RoleSchema,
    expires_at: z.string().nullable().describe('When that ends of itself; null where it does not or is not known'),
    lanes: z.array(z.string()).describe('What this installation has'),
  })
  .meta({ id: 'Me' });
export type Me = z.infer<typeof MeSchema>;

/** A page of the list, by name. */
export const TokenListQuerySchema = z.object({
  limit: z.int().min(1).max(10_000).default(1000).describe(LIMIT_TEXT),
  after_id: z.string().default('').describe(AFTER_ID_TEXT),
});
