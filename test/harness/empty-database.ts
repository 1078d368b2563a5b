/** Resets the database before a test: only the schema and its seeds remain. */
import type { Database } from '../../src/postgres/database.ts'

export const EMPTIED_TABLES = [
  'projects, api_keys, provider_keys, vendor_keys, monthly_counters, stored_objects, stored_responses, stored_turns',
  'cache_entries, cache_prompts, cache_versions, cache_sizes, cache_size_changes, cached_vectors',
  'cache_verdicts, cache_contexts, semantic_hits, judge_spending, judge_queue',
  'usage_records, usage_pending, usage_sums, usage_sums_by_tag, usage_sums_by_name, usage_tag_filters, usage_miss_sums, request_contents, latency_counts, rejections_hourly',
  'budgets, budget_periods, budget_reservations, spend_alerts, unreconciled_responses, events, event_deliveries, webhooks, active_alerts',
  'users, user_identities, memberships, invitations, sessions, login_attempts, admin_keys, audit_log, idempotent_requests',
].flatMap(line => line.split(', '))

/**
 * Sequences are not reset, so that no test finds an earlier test's ids in Redis. Deleting rows takes a twentieth of the time that
 * truncating the many small tables takes. The replica role disables triggers and foreign keys, so that the order of the tables does not
 * matter. One statement uses an open connection: a script opens its own, which takes ten times as long.
 */
const EMPTY = `do $$
begin
  set local session_replication_role = replica;
  ${EMPTIED_TABLES.map(table => `delete from ${table};`).join('\n  ')}
  set local session_replication_role = origin;
  delete from plans where name not in ('free', 'pro', 'enterprise');
  delete from vendors where source = 'operator';
  -- Like a start, this accepts the current time of the server.
  update installation set seen_at = now(), retention_clock_at = now();
end
$$`

export async function emptyDatabase(database: Database): Promise<void> {
  await database.call(EMPTY, [])
}
