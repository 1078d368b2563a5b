/** Written by `bun run generate-types` from the views in sql/api. Hidden columns carry cursors and filters. */
import { Type as t } from '@sinclair/typebox'
import { orNull, words } from './schemas.ts'

/** Composite types, which columns or results of functions have. */
export const TYPES = {
  api_key_owner: { type: t.String(), service_account: t.Object({ id: t.String(), created_at: t.Integer({ description: 'Unix seconds.' }), name: t.String(), role: t.String() }) },
  cache_match: { request_id: t.String(), created_at: t.Integer({ description: 'Unix seconds.' }), reason: words('normalized', 'proved', 'verified', 'judged', 'threshold', 'undecided'), difference: orNull(t.String({ description: 'Null: none.' })), similarity: t.Number(), is_shadow: t.Boolean(), saved_usd: t.Number({ description: 'US dollars.' }), prompt_tokens: t.Integer({ minimum: 0 }), entry_id: orNull(t.String({ description: 'Null: the entry is gone.' })), model: orNull(t.String({ description: 'Null: the entry is gone.' })), endpoint: orNull(t.String({ description: 'Null: the entry is gone.' })), verdict: orNull(words('same', 'different')), verdict_source: orNull(words('person', 'review', 'judge')) },
  cache_stats: { entries: t.Integer({ minimum: 0 }), bytes: t.Integer({ minimum: 0 }), prompts: t.Integer({ minimum: 0 }), with_vector: t.Integer({ minimum: 0 }), vectors: t.Integer({ minimum: 0 }), expired: t.Integer({ minimum: 0 }), saveable_tokens: t.Integer({ minimum: 0 }), oldest_at: orNull(t.Integer({ description: 'Null: it is empty. Unix seconds.' })), newest_at: orNull(t.Integer({ description: 'Null: it is empty. Unix seconds.' })) },
  cache_verdict: { verdict_id: t.String(), created_at: t.Integer({ description: 'Unix seconds.' }), verdict: words('same', 'different'), source: words('person', 'review', 'judge'), similarity: orNull(t.Number({ description: 'Null: it was not measured.' })), difference: orNull(t.String({ description: 'Null: none.' })), model: orNull(t.String({ description: 'Null: the entries are gone.' })), wordings: t.Array(t.String()) },
  calibration_step: { difference: t.String(), threshold: t.Number(), served: t.Integer({ minimum: 0 }), precision: t.Number(), precision_low: t.Number(), precision_high: t.Number() },
  service_account: { id: t.String(), created_at: t.Integer({ description: 'Unix seconds.' }), name: t.String(), role: t.String() },
  service_account_key: { object: t.String(), id: t.String(), name: t.String(), value: t.String(), created_at: t.Integer({ description: 'Unix seconds.' }), expires_at: orNull(t.Integer({ description: 'Null: never. Unix seconds.' })) },
  similarity_band: { at_least: t.Number(), served: t.Integer({ minimum: 0 }), stopped: t.Integer({ minimum: 0 }), saved_usd: t.Number({ description: 'US dollars.' }), missed_usd: t.Number({ description: 'US dollars.' }), same: t.Integer({ minimum: 0 }), different: t.Integer({ minimum: 0 }) },
} as const

export const VIEWS = {
  cached_answers: {
    comment: 'A stored answer, without what it says.',
    hidden: { _id: 'bigint', _project_id: 'bigint', _model: 'text', _namespace: 'text', _created_at: 'timestamp with time zone' },
    columns: {
      id: t.String(),
      endpoint: t.String(),
      model: t.String({ description: 'As the client asked for it.' }),
      provider: t.String({ description: 'Who answered.' }),
      namespace: t.String(),
      bytes: t.Integer({ minimum: 0, description: 'What the answer takes, compressed.' }),
      prompt_tokens: t.Integer({ minimum: 0, description: 'What a hit saves, as the provider counted it.' }),
      completion_tokens: t.Integer({ minimum: 0 }),
      found_by: words('exact', 'normalized', 'similar'),
      created_at: t.Integer({ description: 'Unix seconds.' }),
      expires_at: t.Integer({ description: 'Unix seconds.' }),
    },
  },
  organization_projects: {
    comment: 'Projects, as the admin API shows them.',
    hidden: { _id: 'bigint', _archived: 'boolean' },
    columns: {
      id: t.String(),
      name: t.String(),
      created_at: t.Integer({ description: 'Unix seconds.' }),
      archived_at: orNull(t.Integer({ description: 'Null: it is in use. Unix seconds.' })),
      status: words('active', 'archived'),
      plan: t.String(),
      your_role: words('owner', 'member', 'viewer'),
    },
  },
  project_api_keys: {
    comment: 'Keys of projects, as the admin API shows them.',
    hidden: { _id: 'bigint', _project_id: 'bigint', _inactive: 'boolean', _of_session: 'boolean' },
    columns: {
      id: t.String(),
      name: t.String(),
      redacted_value: t.String(),
      created_at: t.Integer({ description: 'Unix seconds.' }),
      last_used_at: orNull(t.Integer({ description: 'Null: never. Unix seconds.' })),
      expires_at: orNull(t.Integer({ description: 'Null: never. Unix seconds.' })),
      owner: t.Object({ type: t.String(), service_account: t.Object({ id: t.String(), created_at: t.Integer({ description: 'Unix seconds.' }), name: t.String(), role: t.String() }) }, { description: 'A key belongs to the project, not to a user.' }),
      owner_project_access: words('active', 'inactive'),
      type: words('project', 'test'),
      state: words('active', 'expired', 'deactivated'),
      deactivated_at: orNull(t.Integer({ description: 'Null: it was not. Unix seconds.' })),
      requests_per_minute: orNull(t.Integer({ minimum: 0, description: 'The key\'s own limit. Null: its plan\'s.' })),
      tokens_per_minute: orNull(t.Integer({ minimum: 0, description: 'The key\'s own limit. Null: its plan\'s.' })),
      allowed_models: orNull(t.Array(t.String(), { description: 'Null: all that the project may use.' })),
      allowed_addresses: orNull(t.Array(t.String(), { description: 'Null: any.' })),
      former_value_of: orNull(t.String({ description: 'Of a former value, the key for which it stands. Null: it is a key itself.' })),
    },
  },
  project_service_accounts: {
    comment: 'Stands for one API key.',
    hidden: { _id: 'bigint', _project_id: 'bigint', _of_session: 'boolean' },
    columns: {
      id: t.String(),
      name: t.String(),
      role: t.String(),
      created_at: t.Integer({ description: 'Unix seconds.' }),
    },
  },
} as const
