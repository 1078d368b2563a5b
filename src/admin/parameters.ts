/** What the description says of paths and queries; of an id, `completeOpenApiDocument` does. A name means the same everywhere. */
import { VENDORS } from '../config/vendors.ts'

/** The groups that operations are in. */
export const OPENAPI_TAGS = {
  Projects: 'Projects, their settings, and the ways of their models.',
  'API keys': 'Keys of projects, which clients send.',
  'Provider keys': 'A project’s own keys for providers. They are sealed, and never shown again.',
  Members: 'Who may see and change a project.',
  Limits: 'Plans, rate windows and quotas.',
  Budgets: 'What a project, a key, a model or a tag may spend.',
  Webhooks: 'Addresses that are told of a project’s events.',
  Users: 'The installation’s users.',
  'Admin keys': 'Keys of this API.',
  'Audit log': 'Who changed what.',
  Usage: 'Reports of usage and costs.',
  Requests: 'Single requests, with their stories.',
  'End users': 'What is kept of one end user of a project.',
  Cache: 'Stored answers.',
  Matches: 'Semantic hits, near misses, and people’s verdicts on both.',
  Sessions: 'Logins with a browser.',
}
export type OpenApiTag = keyof typeof OPENAPI_TAGS

export const PARAMETER_DESCRIPTIONS: Readonly<Record<string, string>> = {
  // In paths.
  provider: `One of ${VENDORS.map(({ name }) => name).join(', ')}.`,
  rate_limit_id: 'Id of a rate limit, as the list has it.',
  verdict_id: 'The verdict’s verdict_id.',
  request_id: 'The request’s id, as the list has it; in a query, the X-Request-Id of its answer.',
  plan: 'Name of a plan.',
  // Of pages.
  after: 'Id of the item after which the page begins.',
  before: 'Id of the item before which the page ends.',
  limit: 'How many items, or buckets, at most.',
  order: 'The oldest or the newest first.',
  page: 'next_page of an earlier answer.',
  sort: 'newest first; slowest, of those that took a second or longer; dearest, of those that cost anything.',
  format: 'Of the file.',
  // Of time, in Unix seconds.
  start_time: 'Unix seconds: from then on.',
  end_time: 'Unix seconds: until before then; now without it.',
  effective_at: 'Unix seconds: effective_at[gte]=…, with gt, gte, lt or lte.',
  older_than_seconds: 'Stored longer ago than so many seconds.',
  bucket_width: 'A minute, an hour, or a UTC day.',
  width: 'Of a bucket, in the time zone.',
  time_zone: 'Where hours, days and months begin; a name such as Europe/Vienna.',
  // What is selected.
  name: 'Of the key, where a project has several of the provider.',
  include_archived: 'Archived projects, too.',
  include_inactive: 'Deactivated and expired keys, too.',
  emails: 'Of these users alone.',
  project_ids: 'Of these projects alone.',
  api_key_ids: 'Of these API keys alone.',
  api_key_id: 'Of this API key alone.',
  key_type: 'Of keys of this type alone. Test keys are the sandbox’s.',
  models: 'Of these models alone.',
  line_items: 'Of these models alone.',
  model: 'Of this model alone; of requests, a part of its name.',
  model_name: 'Of the model that has this whole name.',
  group_by: 'Rows of their own for each of these; tag:team for the values of one tag.',
  tags: 'Requests with all of these tags, each as name=value.',
  question:
    'A part of the question, in any case; among the newest 50,000, for members where the text of requests is kept.',
  namespace: 'Of this namespace of the cache alone.',
  endpoint: 'chat, embeddings, ….',
  cache_result: 'How the cache answered.',
  outcome: 'Whether a request got an answer.',
  status: 'HTTP status of the answer.',
  error_code: 'Code of the error.',
  end_user: 'Whom the client asks for: the whole name, as its requests say it.',
  event_types: 'Of these kinds of changes alone.',
  actor_ids: 'By these users alone.',
  actor_emails: 'By users with these addresses alone.',
  resource_ids: 'Changes of these alone.',
  tenant_only: 'Taken for OpenAI’s clients: there is one tenant.',
  native_to: 'Models that this provider has, under its own names.',
  provider_keys: 'As if the project had keys of these providers; one empty name stands for none.',
}
