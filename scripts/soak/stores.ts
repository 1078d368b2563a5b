/** A PostgreSQL and a Redis Cluster for one soak, which can be stopped, frozen, killed and filled. */

import { callFunction } from '../../src/postgres/call.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { type RedisCluster, startCluster } from '../../test/engines/redis-servers.ts'
import { type CuttingProxy, startCuttingProxy } from '../../test/faults/cutting-proxy.ts'
import { type PrivateServer, startPostgres } from '../../test/faults/servers.ts'
import { withDatabase } from '../bench/stores.ts'

export interface SoakProject {
  name: string
  key: string
}

export interface SoakStores {
  postgres: PrivateServer
  /** Half of the proxies connect to the database through this relay, which can lose replies. */
  relay: CuttingProxy
  redis: RedisCluster
  projects: Record<ProjectName, SoakProject>
  remove(): Promise<void>
}

/** `steady`: clients read responses to the end. `fickle`: some clients disconnect. `limited`: low rate limit. `test`: test key. */
export type ProjectName = 'steady' | 'fickle' | 'limited' | 'test'

export const LIMITED_PER_MINUTE = 30

export async function startSoakStores(): Promise<SoakStores> {
  const [postgres, redis] = await Promise.all([startPostgres(), startCluster()])
  const projects = await withDatabase(postgres.url, async database => {
    await migrate(database)
    await database.runScript(`
      insert into plans values
          ('soak', 1000000000, 1000000000, 1000000000000, 1000000000, 1000000000000),
          ('limited', ${LIMITED_PER_MINUTE}, 1000000000, 1000000000000, 1000000000, 1000000000000)`)
    const create = async (name: ProjectName): Promise<SoakProject> => {
      await callFunction(database, 'create_project', { project: name, plan: name === 'limited' ? 'limited' : 'soak' })
      return {
        name,
        key: await callFunction(database, 'issue_key', {
          project: name,
          key_type: name === 'test' ? 'test' : 'project',
          key_name: 'soak',
        }),
      }
    }
    const made = {
      steady: await create('steady'),
      fickle: await create('fickle'),
      limited: await create('limited'),
      test: await create('test'),
    }
    // Budgets that are not reached: their spending is compared with the records. Forwarded endpoints have no price, which a budget would
    // reject.
    await database.runScript(`
      set local search_path = model_proxy, public;
      select set_budget('steady', 'usd', 1000000, 'day', of_model => 'openai/gpt-4o-mini'),
        set_budget('fickle', 'usd', 1000000, 'month'), set_budget('fickle', 'tokens', 999999999, 'total'),
        set_budget('limited', 'usd', 1000000, 'total'), set_spend_alert(null, 1000000, '{soak@example.org}')`)
    return made
  })
  return {
    postgres,
    relay: await startCuttingProxy(postgres.url),
    redis,
    projects,
    async remove() {
      await Promise.all([postgres.remove(), redis.remove()])
    },
  }
}

export interface Booked {
  /** Requests in the project's month counters. */
  counted: number
  records: { id: string; status: number }[]
}

/** Reads the proxies' counts and records of a project. */
export function readBooks(url: string, project: string): Promise<Booked> {
  return withDatabase(url, async database => {
    const [counters] = await database.call<{ counted: number }>(
      `select coalesce(sum(c.requests), 0)::integer as counted
      from monthly_counters c join projects p on p.id = c.project_id
      where p.name = $1::text`,
      [project],
    )
    const records = await database.call<{ id: string; status: number }>(
      `select u.request_id as id, u.status
      from usage_records u join projects p on p.id = u.project_id
      where p.name = $1::text`,
      [project],
    )
    return { counted: counters?.counted ?? 0, records }
  })
}
