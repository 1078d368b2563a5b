/** Runs SQL texts of several statements, each on a connection of its own, so that session settings end with it. */
import type { DatabaseAddress } from './address.ts'
import { type Script, ScriptFailed } from './database.ts'
import { type Driver, endDriver, openDriver } from './driver.ts'

/** The server runs it as one transaction, unless it is a single statement that cannot run in one. */
export async function runScript(address: DatabaseAddress, text: string): Promise<void> {
  await withDriver(address, ({ sql }) => sql.unsafe(text))
}

/** Runs all of them in one transaction. */
export async function runScripts(address: DatabaseAddress, scripts: readonly Script[]): Promise<void> {
  await withDriver(address, ({ sql }) =>
    sql.begin(async transaction => {
      for (const { name, text } of scripts) {
        await transaction.unsafe(text).catch(error => {
          throw new ScriptFailed(name, error)
        })
      }
    }),
  )
}

async function withDriver(address: DatabaseAddress, run: (driver: Driver) => Promise<unknown>): Promise<void> {
  const driver = await openDriver({ address, statementTimeLimitMs: STATEMENT_TIME_LIMIT_MS })
  try {
    await run(driver)
  } finally {
    endDriver(driver)
  }
}

/** A script that takes longer sets its own limit: `set local statement_timeout`. */
const STATEMENT_TIME_LIMIT_MS = 10_000
