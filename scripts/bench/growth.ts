/**
 * Measures the effect of growth: `bun run bench --scale --scenarios exact,semantic,miss` measures on a nearly empty database, fills it with
 * keys, projects, usage records and cached responses, and measures again.
 *
 * Options: --keys N (default 1000000) --projects N (10000) --records N (10000000) --entries N (1000000). A short run: --keys 1000
 * --projects 100 --records 10000 --entries 1000.
 */
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import type { Row } from './measure.ts'
import { insertUsage, WITHOUT_LIMITS } from './usage-records.ts'

export interface Growth {
  keys: string
  projects: string
  records: string
  entries: string
}

/** The share of throughput above which a loss is reported. */
const MAX_LOSS = 0.1
/** Entries are inserted in this many parts, so that no statement runs for minutes. */
const PARTS = 10

export function tellGrowth(before: readonly Row[], after: readonly Row[]): void {
  for (const [i, { scenario, target, connections, requestsPerSecond }] of before.entries()) {
    const loss = 1 - (after[i]?.requestsPerSecond ?? 0) / requestsPerSecond
    if (loss <= MAX_LOSS) continue
    process.stdout.write(`${scenario} at ${connections}, ${target}: ${Math.round(loss * 100)} % less throughput\n`)
  }
}

/** Inserts keys, projects, usage records and cached responses with statements on the server. */
export async function fillDatabase(url: string, growth: Growth): Promise<void> {
  const into = openServerDatabase({ url, maxConnections: 1 })
  const [keys, projects] = [Number(growth.keys), Number(growth.projects)]
  await into.runScript(`
    ${WITHOUT_LIMITS}
    insert into projects (name, plan) select 'grown-' || n, 'bench' from generate_series(1, ${projects}) n;
    insert into api_keys (project_id, key_hash, prefix, type, name)
    select p.id, sha256(convert_to(p.id || '/' || n, 'UTF8')), 'lgw_proj_' || left(md5(p.id || '/' || n), 8), 'project', 'key ' || n
    from projects p, generate_series(1, ${Math.ceil(keys / projects)}) n
    where p.name like 'grown-%';
  `)
  const records = Number(growth.records)
  await insertUsage(into, 'grown-', { records, days: 31, endUsers: records / 100, isSummed: false })
  const startedAtMs = performance.now()
  for (let part = 0; part < PARTS; part++) {
    await into.runScript(`
      ${WITHOUT_LIMITS}
      insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at, bytes)
      select p.ids[1 + n % ${projects}], sha256(convert_to('${part}/' || n, 'UTF8')), e.endpoint, e.model, e.provider, e.response,
        now() + interval '1 day', e.bytes
      from (select array_agg(id) as ids from projects where name like 'grown-%') p,
        generate_series(1, ${Math.ceil(Number(growth.entries) / PARTS)}) n,
        (select * from cache_entries order by id limit 1) e;
    `)
    process.stderr.write(
      `filled ${part + 1} of ${PARTS} after ${Math.round((performance.now() - startedAtMs) / 1000)} s\n`,
    )
  }
  await into.runScript(`
    ${WITHOUT_LIMITS}
    insert into cache_prompts (entry_id, project_id, context_hash, normalized_hash, prompt, space_id, embedding, created_at, expires_at)
    select e.id, e.project_id, f.context_hash, e.request_hash, f.prompt, f.space_id, f.embedding, e.created_at, e.expires_at
    from cache_entries e
    join projects p on p.id = e.project_id and p.name like 'grown-%',
      (select * from cache_prompts where embedding is not null order by entry_id limit 1) f;
    analyze;
  `)
  const [bytes] = await into.call<{ record: number; answer: number }>(
    `select
      (select sum(pg_total_relation_size(c.oid)) from pg_class c where c.relname like 'usage\\_records\\_%' and c.relkind = 'r')::float8
        / (select count(*) from usage_records) as record,
      (select sum(pg_total_relation_size(c.oid)) from pg_class c where c.relname in ('cache_entries', 'cache_prompts'))::float8
        / (select count(*) from cache_entries) as answer`,
    [],
  )
  const [record, answer] = [bytes?.record ?? 0, bytes?.answer ?? 0].map(Math.round)
  process.stdout.write(`A record takes ${record} bytes, a cached response with its prompt and vector ${answer}\n`)
  await into.close()
}
