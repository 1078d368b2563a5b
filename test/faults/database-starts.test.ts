/** Databases in the configurations of hosting providers. Each start fails with its cause, and succeeds after the printed lines are run. */
import { beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/postgres/database.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openDatabase } from '../../src/process/open-database.ts'
import { duringTests } from '../harness/during-tests.ts'
import { bareFlags, runPsql } from '../integration/run-psql.ts'
import { missingServers, startPostgres } from './servers.ts'

const MODEL = 'starts_model'

describe.skipIf(missingServers !== null)(
  `starts${missingServers === null ? '' : `: skipped, ${missingServers}`}`,
  () => {
    const server = duringTests(startPostgres)
    let admin: string
    let last = 0

    beforeAll(async () => {
      admin = server.url.replace(/[^/]*$/, 'postgres')
      await psql(admin, [`create database ${MODEL}`])
      await psql(inDatabase(MODEL), ['create extension vector'])
      await psql(admin, ['create role model_proxy_dashboard nologin'])
    })

    const inDatabase = (name: string) => server.url.replace(/[^/]*$/, name)

    async function psql(url: string, lines: readonly string[]): Promise<string> {
      const { exitCode, stdout, stderr } = await runPsql(url, bareFlags, `${lines.join('\n;\n')}\n`)
      expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' })
      return stdout
    }

    /** Opens and migrates the database as a start does. Returns null, or the error message. */
    async function start(url: string, environment: Record<string, string> = {}): Promise<string | null> {
      let database: Database | undefined
      try {
        database = await openDatabase(readConfig({ DATABASE_URL: url, ...environment }))
        await migrate(database)
        return null
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      } finally {
        await database?.close()
      }
    }

    const linesOf = (output: string) => output.split('\n').flatMap(line => /^ {4}(.*)$/.exec(line)?.[1] ?? [])

    interface Names {
      role: string
      database: string
    }

    /** Creates a database with the extension. Its owner is not a superuser and is a member of the dashboard's role. */
    async function create(
      prepare: (names: Names) => readonly string[],
      inside: (names: Names) => readonly string[] = () => [],
    ) {
      const names = { role: `starts_r${++last}`, database: `starts_d${last}` }
      await psql(admin, [
        `create role ${names.role} login`,
        `grant model_proxy_dashboard to ${names.role}`,
        `create database ${names.database} template ${MODEL} owner ${names.role}`,
        ...prepare(names),
      ])
      await psql(inDatabase(names.database), ['select 1', ...inside(names)])
      return names
    }

    const urlOf = ({ role, database }: Names) => inDatabase(database).replace('postgres@', `${role}@`)

    interface Case {
      title: string
      cause: RegExp
      before?: (names: Names) => readonly string[]
      /** Lines that are run in the database itself. */
      inside?: (names: Names) => readonly string[]
      url?: (url: string, names: Names) => string
      /** The URL after the lines are run, if it changes. */
      after?: (url: string, names: Names) => string
      environment?: Record<string, string>
    }

    const setting = (name: string, value: string): Case => ({
      title: `a role with ${name} = ${value}`,
      cause: new RegExp(`the setting ${name.replace('.', '\\.')} is`),
      before: ({ role }) => [`alter role ${role} set ${name} = ${value}`],
    })

    const CASES: readonly Case[] = [
      {
        title: 'no right to create a schema',
        cause: /may not create the schema model_proxy in the database/,
        before: ({ database }) => [`alter database ${database} owner to postgres`],
      },
      {
        title: 'no right to create a schema of another name',
        cause: /may not create the schema other_place/,
        before: ({ database }) => [`alter database ${database} owner to postgres`],
        environment: { DATABASE_SCHEMA: 'other_place' },
      },
      {
        title: 'a schema of another',
        cause: /may not use the schema model_proxy, which postgres owns/,
        inside: () => ['create schema model_proxy'],
      },
      {
        title: 'tables of another in the schema',
        cause: /holds tables or functions of postgres/,
        inside: ({ role }) => [
          `create schema model_proxy authorization ${role}`,
          'create table model_proxy.schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
          `comment on table model_proxy.schema_migrations is 'Ledger of what of sql/ this database has seen.'`,
        ],
      },
      {
        title: 'a table of the same name that something else left',
        cause: /holds tables that Model Proxy did not create/,
        inside: ({ role }) => [
          `create schema model_proxy authorization ${role}`,
          'create table model_proxy.projects (id integer)',
          `alter table model_proxy.projects owner to ${role}`,
        ],
      },
      {
        title: 'such a table, without the right to create a schema',
        cause: /holds tables that Model Proxy did not create/,
        before: ({ database }) => [`alter database ${database} owner to postgres`],
        inside: ({ role }) => [
          `create schema model_proxy authorization ${role}`,
          'create table model_proxy.schema_migrations (version bigint)',
          `alter table model_proxy.schema_migrations owner to ${role}`,
        ],
      },
      {
        title: 'a role that does not inherit what its group owns',
        cause: /does not inherit the rights of/,
        before: ({ role }) => [
          `create role ${role}_group nologin`,
          `alter role ${role} noinherit`,
          `grant ${role}_group to ${role}`,
        ],
        inside: ({ role }) => [
          `create schema model_proxy authorization ${role}_group`,
          `set role ${role}_group`,
          'create table model_proxy.schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
          `comment on table model_proxy.schema_migrations is 'Ledger of what of sql/ this database has seen.'`,
        ],
      },
      {
        title: 'no extension, and no right to create it',
        cause: /may not create the extension vector/,
        inside: () => ['drop extension vector'],
      },
      {
        title: 'the extension in a schema that the role may not use',
        cause: /may not use the schema tools, where the extension vector is/,
        inside: () => ['create schema tools', 'alter extension vector set schema tools'],
      },
      {
        title: 'one connection of the role',
        cause: /may have 1 connections/,
        before: ({ role }) => [`alter role ${role} connection limit 1`],
      },
      {
        title: 'no connection of the role',
        cause: /the role \S+ has as many connections as it may/,
        before: ({ role }) => [`alter role ${role} connection limit 0`],
      },
      {
        title: 'few connections of the database',
        cause: /takes 2 connections/,
        before: ({ database }) => [`alter database ${database} connection limit 2`],
      },
      {
        title: 'no connection of the database',
        cause: /the database \S+ has as many connections as it takes/,
        before: ({ database }) => [`alter database ${database} connection limit 0`],
      },
      {
        title: 'no right to connect',
        cause: /may not connect to the database/,
        before: ({ database }) => [
          `alter database ${database} owner to postgres`,
          `revoke connect on database ${database} from public`,
        ],
        inside: ({ role }) => [`create schema model_proxy authorization ${role}`],
      },
      {
        title: 'a role that may not log in',
        cause: /does not exist, or may not log in/,
        before: ({ role }) => [`alter role ${role} nologin`],
      },
      {
        title: 'a role that does not exist',
        cause: /does not exist, or may not log in/,
        inside: ({ role }) => [
          `create schema model_proxy authorization ${role}`,
          `alter schema model_proxy owner to postgres`,
        ],
        url: (url, { role }) => url.replace(role, `${role}_new`),
      },
      {
        title: 'a database that does not exist',
        cause: /the server has no database/,
        url: (url, { database }) => url.replace(database, `${database}_new`),
      },
      {
        title: 'a database in SQL_ASCII',
        cause: /has the encoding SQL_ASCII/,
        before: ({ role, database }) => [
          `create database ${database}_ascii owner ${role} encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0`,
        ],
        url: (url, { database }) => url.replace(database, `${database}_ascii`),
        after: (url, { database }) => url.replace(database, `${database}_ascii_utf8`),
      },
      { ...setting('default_transaction_read_only', 'on'), cause: /takes no writes/ },
      {
        title: 'a database that is read-only by default',
        cause: /takes no writes/,
        before: ({ database }) => [`alter database ${database} set default_transaction_read_only = on`],
      },
      setting('session_replication_role', 'replica'),
      setting('plpgsql.variable_conflict', 'use_column'),
      setting('plpgsql.extra_errors', 'too_many_rows'),
      setting('exit_on_error', 'on'),
      {
        title: 'a search_path with other functions before PostgreSQL’s',
        cause: /names pg_catalog after other schemas/,
        before: ({ role }) => [`alter role ${role} set search_path = public, pg_catalog`],
      },
    ]

    test('names a pgvector that is too old, with the command that updates it', async () => {
      const names = await create(
        () => [],
        () => [`update pg_extension set extversion = '0.5.1' where extname = 'vector'`],
      )
      const output = (await start(urlOf(names))) ?? ''
      expect(output).toMatch(/has pgvector 0.5.1; 0.7.0 or newer is needed/)
      expect(linesOf(output)).toEqual(['alter extension vector update;'])
    })

    test.each(CASES.map(each => [each.title, each] as const))('%s', { timeout: 120_000 }, async (_title, given) => {
      const names = await create(given.before ?? (() => []), given.inside)
      let url = (given.url ?? (same => same))(urlOf(names), names)
      const problems: string[] = []
      for (let tries = 0; tries < 4; tries++) {
        const problem = await start(url, given.environment)
        if (problem === null) break
        problems.push(problem)
        const lines = linesOf(problem)
        expect(lines, problem).not.toEqual([])
        const isMissing = /no database/.test(problem)
        const target = new URL(url).pathname.slice(1)
        const isOutside = isMissing || /connections as it takes|encoding/.test(problem)
        await psql(isOutside ? admin : inDatabase(target), lines)
        if (tries === 0) url = (given.after ?? (same => same))(url, names)
      }
      expect(problems[0]).toMatch(given.cause)
      expect(await start(url, given.environment)).toBeNull()
    })
  },
)
